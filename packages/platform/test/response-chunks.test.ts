import { describe, expect, test } from 'vitest'
import { readChunks } from '../src/response-chunks.ts'

/** A body that takes no notice of any signal and stays open after its chunks. */
function openBody(...chunks: string[]) {
  const cancelled: unknown[] = []
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift()
      if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk))
    },
    cancel: (reason) => void cancelled.push(reason),
  })
  return { body, cancelled }
}

const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk)

describe('reading the body of a response', () => {
  test('yields all chunks to the end of the body', async () => {
    const { body } = new Response('ab')
    const chunks: string[] = []
    for await (const chunk of readChunks(body!, new AbortController().signal)) {
      chunks.push(text(chunk))
    }
    expect(chunks.join('')).toBe('ab')
  })

  test('ends with the reason of the abort and cancels a body that nothing else would end', async () => {
    const { body, cancelled } = openBody('a')
    const controller = new AbortController()
    const chunks = readChunks(body, controller.signal)
    expect(text((await chunks.next()).value as Uint8Array)).toBe('a')
    const next = chunks.next()
    const reason = new Error('stopped')
    controller.abort(reason)
    await expect(next).rejects.toBe(reason)
    expect(cancelled).toEqual([reason])
  })

  test('reads nothing if the signal has already aborted', async () => {
    const { body, cancelled } = openBody('a')
    const reason = new Error('stopped')
    await expect(readChunks(body, AbortSignal.abort(reason)).next()).rejects.toBe(reason)
    expect(cancelled).toEqual([reason])
  })

  test('cancels the body when its consumer stops early', async () => {
    const { body, cancelled } = openBody('a', 'b')
    for await (const chunk of readChunks(body, new AbortController().signal)) {
      expect(text(chunk)).toBe('a')
      break
    }
    expect(cancelled).toHaveLength(1)
  })
})
