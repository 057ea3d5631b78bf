// Runs one function as Lambda's runtime does: imports its handler from LAMBDA_TASK_ROOT, takes events
// one after the other and returns results. Events and results are messages of the parent process.
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const STREAMING = Symbol('streaming')

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [STREAMING]: true }),
  HttpResponseStream: {
    from(stream, head) {
      stream.sendHead(head)
      return stream
    },
  },
}

const importedAt = performance.now()
const { handler } = await import(
  pathToFileURL(join(process.env.LAMBDA_TASK_ROOT, 'index.mjs')).href
)
process.send({ kind: 'ready', importMs: performance.now() - importedAt })

const streams = new Map()

process.on('message', async ({ id, event, timeoutMs, disconnect }) => {
  if (disconnect) return void streams.get(id)?.destroy(new Error('The client left'))
  const endsAt = Date.now() + timeoutMs
  const context = { getRemainingTimeInMillis: () => endsAt - Date.now() }
  try {
    const result = handler[STREAMING]
      ? await handler(event, streamOf(id), context)
      : await handler(event, context)
    process.send({ kind: 'result', id, result })
  } catch (error) {
    process.send({ kind: 'failed', id, message: String(error?.stack ?? error) })
  }
})

function streamOf(id) {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      process.send({ kind: 'chunk', id, bytes: Buffer.from(chunk).toString('base64') }, done)
    },
    final(done) {
      process.send({ kind: 'end', id }, done)
    },
  })
  stream.sendHead = (head) => process.send({ kind: 'head', id, head })
  stream.on('error', () => {})
  streams.set(id, stream)
  return stream
}
