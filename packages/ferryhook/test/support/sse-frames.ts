/** Reads server-sent events. */
export interface Frame {
  /** `comment` and `closed` are not events of the stream. */
  event: string
  id: string | undefined
  data: unknown
}

export function readFrames(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    async next(): Promise<Frame> {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const frame = text.slice(0, end)
          text = text.slice(end + 2)
          return parse(frame)
        }
        const { done, value } = await reader.read()
        if (done) return { event: 'closed', id: undefined, data: undefined }
        text += decoder.decode(value, { stream: true })
      }
    },
    leave: () => reader.cancel(),
  }
}

function parse(frame: string): Frame {
  const fields = new Map(
    frame.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
  if (fields.has('')) return { event: 'comment', id: undefined, data: undefined }
  const data = fields.get('data')
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: data === undefined ? undefined : (JSON.parse(data) as unknown),
  }
}
