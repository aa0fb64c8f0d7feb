//! The kernel's own description of an event, as `format` files of tracefs have it and recordings hold copies
//! of it (`Documentation/trace/events.rst`).

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventFormat {
    /// The group that it is in: `sched`.
    pub(crate) system: String,
    pub(crate) name: String,
    /// What its records begin with.
    pub(crate) id: u16,
    pub(crate) fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// Its type in C, without the brackets of an array.
    pub(crate) kind: String,
    /// Where it starts in a record, bytes.
    pub(crate) offset: usize,
    /// Bytes; of data elsewhere, those that say where.
    pub(crate) size: usize,
    pub(crate) is_signed: bool,
    pub(crate) form: Form,
}

/// How values lie in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A number, a pointer.
    One,
    /// As many as there is room for.
    Array,
    /// Elsewhere: four bytes hold its length and its offset in the record.
    Data,
    /// The same, with the offset after these four bytes.
    Relative,
}

impl EventFormat {
    /// Reads a description; `None` if it is none.
    pub(crate) fn parse(system: &str, text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        Some(Self {
            system: system.to_owned(),
            name: value("name:")?.to_owned(),
            id: value("ID:")?.parse().ok()?,
            fields: text.lines().filter_map(Field::parse).collect(),
        })
    }

    /// A field, by its name.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// `\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;`
    fn parse(line: &str) -> Option<Self> {
        let declared = line.trim_start().strip_prefix("field:")?;
        let mut parts = declared.split(';').map(str::trim);
        let declaration = parts.next()?;
        let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
        let (offset, size) = (number("offset:")?, number("size:")?);
        let is_signed = number("signed:").unwrap_or(0) != 0;
        let (declaration, is_array) = match declaration.strip_suffix(']') {
            Some(inside) => (inside.rsplit_once('[')?.0, true),
            None => (declaration, false),
        };
        let (kind, name) = declaration.rsplit_once([' ', '*'])?;
        let pointer = if declaration[kind.len()..].starts_with('*') { " *" } else { "" };
        let kind = format!("{}{pointer}", kind.trim());
        let elsewhere = [("__data_loc ", Form::Data), ("__rel_loc ", Form::Relative)];
        let elsewhere =
            elsewhere.into_iter().find_map(|(prefix, form)| Some((kind.strip_prefix(prefix)?, form)));
        let (kind, form) = match elsewhere {
            Some((kind, form)) => (kind.trim_end_matches("[]").trim().to_owned(), form),
            None if is_array => (kind, Form::Array),
            None => (kind, Form::One),
        };
        Some(Self { name: name.to_owned(), kind, offset, size, is_signed, form })
    }

    /// Bytes of an element of an array, by its type; `None`: unknown.
    pub(crate) fn element_size(&self, long: usize) -> Option<usize> {
        let words = self.kind.split(' ').filter(|word| !matches!(*word, "const" | "signed" | "unsigned"));
        Some(match &*words.collect::<Vec<_>>().join(" ") {
            "char" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" | "x8" | "bool" => 1,
            "short" | "u16" | "s16" | "__u16" | "__s16" | "uint16_t" | "int16_t" | "x16" => 2,
            "" | "int" | "u32" | "s32" | "__u32" | "__s32" | "uint32_t" | "int32_t" | "x32" => 4,
            "u64" | "s64" | "__u64" | "__s64" | "uint64_t" | "int64_t" | "x64" | "long long" => 8,
            "long" | "long int" | "size_t" => long,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations() {
        let check = |declaration: &str, name: &str, kind: &str, form: Form| {
            let line = format!("\tfield:{declaration};\toffset:8;\tsize:16;\tsigned:1;");
            let field = Field::parse(&line).unwrap();
            assert_eq!((&*field.name, &*field.kind, field.form), (name, kind, form), "{declaration}");
            assert_eq!((field.offset, field.size, field.is_signed), (8, 16, true));
        };
        check("char prev_comm[16]", "prev_comm", "char", Form::Array);
        check("unsigned short common_type", "common_type", "unsigned short", Form::One);
        check("__data_loc char[] name", "name", "char", Form::Data);
        check("__rel_loc char[] name", "name", "char", Form::Relative);
        check("const char * filename", "filename", "const char *", Form::One);
        check("void *skbaddr", "skbaddr", "void *", Form::One);
        check("u64 hdr[]", "hdr", "u64", Form::Array);
        check("struct sockaddr * uservaddr", "uservaddr", "struct sockaddr *", Form::One);
        assert_eq!(Field::parse("print fmt: \"x\""), None);
        assert_eq!(Field::parse("\tfield:int;\toffset:8;\tsize:4;\tsigned:1;"), None);
    }

    #[test]
    fn a_file() {
        let text = "name: softirq_entry\nID: 93\nformat:\n\
                    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                    \tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n\n\
                    print fmt: \"vec=%u\", REC->vec\n";
        let format = EventFormat::parse("irq", text).unwrap();
        assert_eq!((&*format.name, format.id, format.fields.len()), ("softirq_entry", 93, 2));
        assert_eq!(format.field("vec").unwrap().element_size(8), Some(4));
        assert_eq!(EventFormat::parse("irq", "nothing"), None);
    }
}
