/** Reads server-sent events (HTML Living Standard, section 9.2.6), as far as Ferryhook uses them. */
import { readChunks } from '@strongroom/platform/response-chunks'

export interface Frame {
  event: string
  id: string | undefined
  data: string
}

/** Larger than any event with its body. */
const MAX_FRAME_CHARS = 4 * 1024 * 1024

/**
 * Yields each frame when it is complete, and ends with the reason of an abort. Calls `onChunk` for all
 * data, including comments.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  { signal, onChunk }: { signal: AbortSignal; onChunk: () => void },
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of readChunks(body, signal)) {
    onChunk()
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = parse(text.slice(0, end))
      text = text.slice(end + 2)
      if (frame) yield frame
    }
    if (text.length > MAX_FRAME_CHARS) throw new Error('The response is not an event stream')
  }
}

function parse(frame: string): Frame | undefined {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    fields.set(name, value)
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data }
}
