/** The ways in which the fake Slack fails. */

export type Fault =
  /** It never responds. */
  | { kind: 'hang' }
  | { kind: 'slow'; ms: number }
  /** A 429; without `retryAfter` it has no Retry-After header. */
  | { kind: 'rate_limit'; retryAfter?: number }
  | { kind: 'status'; status: number }
  /** An HTML page, as during incidents. */
  | { kind: 'html'; status?: number }
  /** The connection is reset. */
  | { kind: 'reset' }
  /** `ok: false` with this error, such as `token_revoked`. */
  | { kind: 'error'; error: string }

export type ActiveFault = Fault & {
  /** The method that fails; by default all. */
  method?: string
  /** How often; by default always. */
  times?: number
}

export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>

export const systemWait: Wait = async (ms, signal) => {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    })
  })
}

/** The active faults, the newest first. */
export function createFaults() {
  let active: { fault: ActiveFault; left: number }[] = []
  return {
    add(fault: ActiveFault) {
      active.unshift({ fault, left: fault.times ?? Infinity })
    },
    clear() {
      active = []
    },
    /** The fault for the next call of a method. */
    take(method: string): Fault | undefined {
      const found = active.find(({ fault }) => (fault.method ?? method) === method)
      if (found && --found.left <= 0) active = active.filter((each) => each !== found)
      return found?.fault
    },
  }
}

/** Undefined if the call succeeds after a delay. */
export async function respondWithFault(
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
  return signal.reason instanceof Error ? signal.reason : new Error('The call was aborted')
}
