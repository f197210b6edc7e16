"""Snappy as Kafka's clients write it: a raw block, or Java's framing of blocks (xerial). https://github.com/google/snappy/blob/main/format_description.txt"""

XERIAL = b"\x82SNAPPY\x00"


def decompress(data: bytes) -> bytes:
    if not data.startswith(XERIAL):
        return _block(data)
    parts, at = [], 16
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        parts.append(_block(data[at + 4 : at + 4 + length]))
        at += 4 + length
    return b"".join(parts)


def _block(data: bytes) -> bytes:
    size, shift, at = 0, 0, 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:  # literal
            length = tag >> 2
            if length >= 60:
                extra = length - 59
                length = int.from_bytes(data[at : at + extra], "little")
                at += extra
            length += 1
            out += data[at : at + length]
            at += length
            continue
        if kind == 1:
            length = ((tag >> 2) & 7) + 4
            offset = ((tag >> 5) << 8) | data[at]
            at += 1
        else:
            length = (tag >> 2) + 1
            width = 2 if kind == 2 else 4
            offset = int.from_bytes(data[at : at + width], "little")
            at += width
        start = len(out) - offset
        if offset <= 0 or start < 0:
            raise ValueError("a copy reaches before the beginning")
        if offset >= length:
            out += out[start : start + length]
        else:  # the copy overlaps what it makes: the last bytes again and again
            pattern = bytes(out[start:])
            out += (pattern * (length // offset + 1))[:length]
    if len(out) != size:
        raise ValueError(f"a block of {size} bytes has {len(out)}")
    return bytes(out)
