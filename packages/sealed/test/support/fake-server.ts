/** A server with fixed responses, and waits that take no time. */
import { createSealedApi } from '../../src/client/api.ts'
import type { RetryOptions } from '../../src/client/retry.ts'

/** A response, or `lost` and `unreachable` for none. */
export type Answer = Response | 'lost' | 'unreachable'

export function answering(...answers: (() => Answer)[]) {
  const requests: { url: string; init: RequestInit }[] = []
  const api = createSealedApi({
    base: 'https://strongroom.example/sealed/',
    async fetch(url, init = {}) {
      requests.push({ url: String(url), init })
      // The last response is repeated.
      const answer = (answers.length > 1 ? answers.shift() : answers[0])?.()
      if (answer instanceof Response) return answer
      const code = answer === 'unreachable' ? 'ECONNREFUSED' : 'UND_ERR_SOCKET'
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
    },
  })
  return { api, requests }
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}) {
  return () => Response.json(body, { status, headers })
}

export function refusal(code: string, status: number, data?: object) {
  return json({ error: { code, message: 'x', ...(data && { data }) } }, status)
}

export function instantRetry() {
  const waits: [string, number][] = []
  let now = 0
  const retry: RetryOptions = {
    now: () => now,
    wait: async (ms) => void (now += ms),
    onWait: (reason, seconds) => void waits.push([reason, seconds]),
  }
  return { retry, waits }
}
