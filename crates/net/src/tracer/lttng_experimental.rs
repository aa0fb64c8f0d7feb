//! The network tracepoints as the `net_data_experimental` branch of LTTng-modules had them before 2.9: `net_dev_queue` and
//! `netif_receive_skb` with the transport header in a variant `transport_fields`, whose option for TCP is `thtype_tcp`.
//!
//! Only sequence number, acknowledgement number and flags are known to be there in every version of the branch. Addresses,
//! ports and lengths are taken where they have the names that the kernel's headers give them.

use isochrone_ctf::plan::{EventPlan, StreamPlan};

use super::Extractor;
use super::lttng_net::NetEvent;

pub(super) fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    for name in ["seq", "ack_seq", "flags"] {
        class.payload_field(stream, &["transport_fields", "thtype_tcp", name])?;
    }
    NetEvent::new(class).map(|event| -> Box<dyn Extractor> { Box::new(event) })
}
