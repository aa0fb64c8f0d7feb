//! Numbers and addresses as people read them: `duration_text(ns)`, `errno_name(ret)`, `address_of(socket)`, `port_of(socket)`.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, StringArray, UInt16Array};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use isochrone::shared::duration;

use super::function;
use crate::tables::errno;
use crate::tables::layout::address_and_port;

pub(super) fn functions() -> Vec<ScalarUDF> {
    vec![
        function("duration_text", vec![DataType::Int64], DataType::Utf8, |arguments| {
            let ns = arguments[0].as_primitive::<Int64Type>().iter();
            Ok(Arc::new(ns.map(|ns| ns.map(duration)).collect::<StringArray>()))
        }),
        function("errno_name", vec![DataType::Int64], DataType::Utf8, |arguments| {
            let returned = arguments[0].as_primitive::<Int64Type>().iter();
            Ok(Arc::new(returned.map(|ret| errno(ret?)).collect::<StringArray>()))
        }),
        function("address_of", vec![DataType::Utf8], DataType::Utf8, |arguments| {
            let sockets = arguments[0].as_string::<i32>().iter();
            Ok(Arc::new(sockets.map(|text| Some(address_and_port(text?)?.0)).collect::<StringArray>()))
        }),
        function("port_of", vec![DataType::Utf8], DataType::UInt16, |arguments| {
            let sockets = arguments[0].as_string::<i32>().iter();
            Ok(Arc::new(sockets.map(|text| Some(address_and_port(text?)?.1)).collect::<UInt16Array>()))
        }),
    ]
}
