import { UsageError } from './command.ts'

/** The exact text of a stream; undefined if it has more bytes than that, and then it is not read on. */
export async function readText(
  stream: AsyncIterable<Uint8Array | string>,
  { maxBytes, what }: { maxBytes: number; what: string },
): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) return undefined
    chunks.push(bytes)
  }
  try {
    // A byte order mark is part of the text, like everything else.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(Buffer.concat(chunks))
  } catch {
    throw new UsageError(`${what} is no UTF-8 text: save it as such, or encode it, as with base64`)
  }
}
