/** The ways in which Slack fails. */

export type Fault =
  /** No answer, ever. */
  | { kind: 'hang' }
  | { kind: 'slow'; ms: number }
  /** Too many requests; without `retryAfter` also without the header that says when. */
  | { kind: 'rate_limit'; retryAfter?: number }
  | { kind: 'status'; status: number }
  /** A page for people, as during incidents. */
  | { kind: 'html'; status?: number }
  /** The connection breaks. */
  | { kind: 'reset' }
  /** `ok: false` with this error, such as `token_revoked`. */
  | { kind: 'error'; error: string }

export type Broken = Fault & {
  /** Which method fails; all of them unless told. */
  method?: string
  /** How often; for ever unless told. */
  times?: number
}

/** Real time, or that of a test. */
export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>

export const realWait: Wait = async (ms, signal) => {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    })
  })
}

/** Faults that are in effect, the latest first. */
export function createFaults() {
  let broken: { fault: Broken; left: number }[] = []
  return {
    add(fault: Broken) {
      broken.unshift({ fault, left: fault.times ?? Infinity })
    },
    clear() {
      broken = []
    },
    /** The fault that the next call of a method meets. */
    take(method: string): Fault | undefined {
      const found = broken.find(({ fault }) => (fault.method ?? method) === method)
      if (found && --found.left <= 0) broken = broken.filter((each) => each !== found)
      return found?.fault
    },
  }
}

/** The answer of a Slack that fails so; none where the call goes on. */
export async function failAs(
  fault: Fault,
  wait: Wait,
  signal: AbortSignal | undefined,
): Promise<Response | undefined> {
  switch (fault.kind) {
    case 'hang':
      return untilAborted(signal)
    case 'slow':
      await wait(fault.ms, signal)
      return undefined
    case 'rate_limit':
      return rateLimited(fault.retryAfter)
    case 'status':
      return new Response('upstream error', { status: fault.status })
    case 'html':
      return new Response('<!doctype html><title>Slack is down</title>', {
        status: fault.status ?? 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
      })
    case 'reset':
      throw new TypeError('fetch failed', { cause: new Error('The connection was reset') })
    case 'error':
      return Response.json({ ok: false, error: fault.error })
  }
}

export function rateLimited(retryAfter: number | undefined): Response {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) }
  return Response.json(
    { ok: false, error: 'ratelimited' },
    { status: 429, ...(headers && { headers }) },
  )
}

async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (!signal) return
    const abort = () => reject(reasonOf(signal))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('The call was given up')
}
