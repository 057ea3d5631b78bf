/** All bytes of a body, or undefined as soon as there are too many. */
export async function limitedBody(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    read.push(chunk)
  }
  const [only] = read
  return only && read.length === 1 ? only : Buffer.concat(read, bytes)
}
