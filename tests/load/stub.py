"""A language model's endpoint that streams words at a steady pace to many at once; real HTTP, OpenAI's form.

`python -m tests.load.stub PORT WORDS PER_SECOND`
"""

import asyncio
import json
import sys

from tests.load.words import word

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


def chunk(content: str | None, finish: str | None = None) -> bytes:
    delta = {} if content is None else {"content": content}
    event = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def serve(port: int, words: int, per_second: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(HEAD)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(words):
            await asyncio.sleep(began + number / per_second - loop.time())
            writer.write(chunk(word(number)))
            await writer.drain()
        usage = {
            "choices": [],
            "usage": {"prompt_tokens": 500, "completion_tokens": words, "total_tokens": 500 + words},
        }
        end = b"data: " + json.dumps(usage).encode() + b"\n\ndata: [DONE]\n\n"
        writer.write(chunk(None, "stop") + f"{len(end):x}\r\n".encode() + end + b"\r\n0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
