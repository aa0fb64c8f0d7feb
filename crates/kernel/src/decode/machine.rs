//! The machine: interrupts, disks, the network, memory.

use isochrone_ctf::{Event, FieldRef};

use super::{Fields, int32, text};
use crate::event::KernelEvent;

/// Bit of `rwbs` for a request that writes, as LTTng encodes it.
const WRITES: u64 = 1;

/// How to read an event of this family.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one for each event class, not for each event.
pub(super) enum Class {
    IrqEntry { number: FieldRef, name: FieldRef },
    IrqExit { number: FieldRef, ret: Option<FieldRef> },
    SoftirqRaise(FieldRef),
    SoftirqEntry(FieldRef),
    SoftirqExit(FieldRef),
    BlockIssue { request: Request, sectors: FieldRef, kind: Option<FieldRef> },
    BlockComplete(Request),
    Packet { device: FieldRef, bytes: FieldRef, is_sent: bool },
    PageAllocation { order: Option<FieldRef>, is_free: bool },
}

#[derive(Debug)]
pub(super) struct Request {
    device: FieldRef,
    sector: FieldRef,
}

impl Class {
    /// `has`: whether the trace has a class of that name. Ends without begins are not waited for.
    pub(super) fn new(fields: &Fields<'_>, name: &str, has: impl Fn(&str) -> bool) -> Option<Self> {
        let get = |name: &str| fields.get(name);
        let request = || Some(Request { device: get("dev")?, sector: get("sector")? });
        Some(match name {
            "irq_handler_entry" => Self::IrqEntry { number: get("irq")?, name: get("name")? },
            "irq_handler_exit" => Self::IrqExit { number: get("irq")?, ret: get("ret") },
            "softirq_raise" | "irq_softirq_raise" => Self::SoftirqRaise(get("vec")?),
            "softirq_entry" | "irq_softirq_entry" => Self::SoftirqEntry(get("vec")?),
            "softirq_exit" | "irq_softirq_exit" => Self::SoftirqExit(get("vec")?),
            "block_rq_issue" if has("block_rq_complete") => {
                Self::BlockIssue { request: request()?, sectors: get("nr_sector")?, kind: get("rwbs") }
            }
            "block_rq_complete" if has("block_rq_issue") => Self::BlockComplete(request()?),
            "net_dev_queue" => Self::Packet { device: get("name")?, bytes: get("len")?, is_sent: true },
            "netif_receive_skb" | "net_if_receive_skb" => {
                Self::Packet { device: get("name")?, bytes: get("len")?, is_sent: false }
            }
            "mm_page_alloc" | "kmem_mm_page_alloc" => {
                Self::PageAllocation { order: get("order"), is_free: false }
            }
            // Those that are freed in batches are single pages.
            "mm_page_free" | "kmem_mm_page_free" | "mm_page_free_batched" | "kmem_mm_page_free_batched" => {
                Self::PageAllocation { order: get("order"), is_free: true }
            }
            _ => return None,
        })
    }

    #[inline]
    pub(super) fn decode<'e>(&self, event: &Event<'e>) -> Option<KernelEvent<'e>> {
        let vector = |field: &FieldRef| event.unsigned(field).map(|vector| vector as u32);
        Some(match self {
            Self::IrqEntry { number, name } => {
                KernelEvent::IrqEntry { number: int32(event, number)?, name: text(event, name) }
            }
            Self::IrqExit { number, ret } => KernelEvent::IrqExit {
                number: int32(event, number)?,
                ret: ret.as_ref().and_then(|field| event.signed(field)).unwrap_or(0),
            },
            Self::SoftirqRaise(field) => KernelEvent::SoftirqRaise(vector(field)?),
            Self::SoftirqEntry(field) => KernelEvent::SoftirqEntry(vector(field)?),
            Self::SoftirqExit(field) => KernelEvent::SoftirqExit(vector(field)?),
            Self::BlockIssue { request, sectors, kind } => {
                let (device, sector) = request.read(event)?;
                let kind = kind.as_ref().and_then(|field| event.unsigned(field)).unwrap_or(0);
                let sectors = event.unsigned(sectors)? as u32;
                KernelEvent::BlockIssue { device, sector, sectors, is_write: kind & WRITES != 0 }
            }
            Self::BlockComplete(request) => {
                let (device, sector) = request.read(event)?;
                KernelEvent::BlockComplete { device, sector }
            }
            Self::Packet { device, bytes, is_sent } => KernelEvent::Packet {
                device: text(event, device),
                bytes: event.unsigned(bytes)? as u32,
                is_sent: *is_sent,
            },
            Self::PageAllocation { order, is_free } => {
                let order = order.as_ref().and_then(|field| event.unsigned(field)).unwrap_or(0);
                KernelEvent::PageAllocation { pages: 1 << order.min(62), is_free: *is_free }
            }
        })
    }
}

impl Request {
    fn read(&self, event: &Event<'_>) -> Option<(u32, u64)> {
        let sector =
            event.unsigned(&self.sector).or_else(|| event.signed(&self.sector).map(|sector| sector as u64));
        Some((event.unsigned(&self.device)? as u32, sector?))
    }
}
