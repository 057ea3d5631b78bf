/**
 * Reads the body of a response to `fetch` until the signal aborts. The signal given to `fetch` is not enough:
 * Node's `fetch` refers to its request weakly, and once the request is garbage-collected while the body
 * still arrives, an abort has no effect.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel(signal.reason).catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    // For a consumer that stops early; without effect on a stream that has ended.
    cancel()
  }
}
