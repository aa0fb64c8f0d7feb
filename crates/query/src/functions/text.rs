//! Numbers and addresses as text: `duration_text(ns)`, `errno_name(ret)`, `address_of(socket)`,
//! `port_of(socket)`.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, StringArray, UInt16Array};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use isochrone::shared::duration;

use super::Function;
use crate::tables::errno;
use crate::tables::layout::address_and_port;

/// The functions.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::of_values("duration_text", vec![DataType::Int64], DataType::Utf8, |arguments| {
            let ns = arguments[0].as_primitive::<Int64Type>().iter();
            Ok(Arc::new(ns.map(|ns| ns.map(duration)).collect::<StringArray>()))
        }),
        Function::of_values("errno_name", vec![DataType::Int64], DataType::Utf8, |arguments| {
            let returned = arguments[0].as_primitive::<Int64Type>().iter();
            Ok(Arc::new(returned.map(|ret| errno(ret?)).collect::<StringArray>()))
        }),
        Function::of_values("address_of", vec![DataType::Utf8], DataType::Utf8, |arguments| {
            let sockets = arguments[0].as_string::<i32>().iter();
            Ok(Arc::new(sockets.map(|text| Some(address_and_port(text?)?.0)).collect::<StringArray>()))
        }),
        Function::of_values("port_of", vec![DataType::Utf8], DataType::UInt16, |arguments| {
            let sockets = arguments[0].as_string::<i32>().iter();
            Ok(Arc::new(sockets.map(|text| Some(address_and_port(text?)?.1)).collect::<UInt16Array>()))
        }),
    ]
}
