# Prints where `struct sk_buff` has a field, in bytes, by the kernel's BTF: python3 -c PROGRAM FILE FIELD
import struct, sys
data = open(sys.argv[1], "rb").read()
magic, version, flags, head, types, type_bytes, strings, string_bytes = struct.unpack_from("<HBBIIIII", data)
def name(at):
    at += head + strings
    return data[at:data.index(b"\0", at)].decode()
at, end = head + types, head + types + type_bytes
# Bytes behind each kind of type, and behind each of its parts.
sizes = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0), 19: (0, 12)}
while at < end:
    word, info, size = struct.unpack_from("<III", data, at)
    kind, parts = info >> 24 & 31, info & 0xFFFF
    whole, part = sizes.get(kind, (0, 0))
    at += 12
    if kind == 4 and name(word) == "sk_buff":
        for member in range(parts):
            called, of, offset = struct.unpack_from("<III", data, at + 12 * member)
            if name(called) == sys.argv[2]:
                print((offset & 0xFFFFFF if info >> 31 else offset) // 8)
                sys.exit()
    at += whole + part * parts
