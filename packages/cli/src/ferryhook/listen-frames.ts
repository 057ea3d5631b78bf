/** Reads server-sent events (HTML Living Standard, section 9.2.6), as far as Ferryhook sends them. */
export interface Frame {
  event: string
  id: string | undefined
  data: string
}

/** More than any event with its body: what is longer is no stream of ours. */
const MAX_FRAME_CHARS = 4 * 1024 * 1024

/** Each as soon as it is complete; `heard` is called for whatever comes, also for comments. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    heard()
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
