// As much of RFC 6455 as the stand-in service needs: text frames in one piece.

import { createHash } from "node:crypto";

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Shakes hands, calls `hear(frame)` for each JSON frame, and gives the function that sends one. */
export function accept(request, socket, hear) {
  const key = createHash("sha1")
    .update(request.headers["sec-websocket-key"] + MAGIC)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
  );
  let rest = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = read(rest); frame; frame = read(rest)) {
      rest = rest.subarray(frame.length);
      if (frame.opcode === 8) socket.end();
      if (frame.opcode === 1) hear(JSON.parse(frame.data.toString("utf8")));
    }
  });
  return (value) => {
    if (!socket.destroyed) socket.write(framed(Buffer.from(JSON.stringify(value))));
  };
}

function read(buffer) {
  if (buffer.length < 2) return null;
  let size = buffer[1] & 0x7f;
  let at = 2;
  if (size === 126) [size, at] = [buffer.length < 4 ? Infinity : buffer.readUInt16BE(2), 4];
  else if (size === 127) [size, at] = [buffer.length < 10 ? Infinity : Number(buffer.readBigUInt64BE(2)), 10];
  const length = at + 4 + size;
  if (buffer.length < length) return null;
  const mask = buffer.subarray(at, at + 4);
  const data = Buffer.from(buffer.subarray(at + 4, length).map((byte, index) => byte ^ mask[index % 4]));
  return { opcode: buffer[0] & 0x0f, data, length };
}

function framed(data) {
  const head =
    data.length < 126
      ? Buffer.from([0x81, data.length])
      : data.length < 65536
        ? Buffer.from([0x81, 126, 0, 0])
        : Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (head.length === 4) head.writeUInt16BE(data.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(data.length), 2);
  return Buffer.concat([head, data]);
}
