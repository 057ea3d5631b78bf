/** Clients of safe-fetch for tests: loopback only, names from a table, a deadline by hand. */
import { onTestFinished } from 'vitest'
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from '../src/safe-fetch.ts'
import { SafeFetchError } from '../src/safe-fetch/error.ts'

/** A client that may reach 127.0.0.1, where every name leads. */
export function loopbackFetch(options: SafeFetchOptions = {}): SafeFetch {
  return strictFetch({ allow: ['127.0.0.1/32'], ...options })
}

/** A client that may reach public addresses only. */
export function strictFetch(options: SafeFetchOptions = {}): SafeFetch {
  const safeFetch = createSafeFetch({
    allowHttp: true,
    ports: 'unprivileged',
    resolve: () => Promise.resolve(['127.0.0.1']),
    // Too long to pass even on a slow machine: tests trigger timeouts themselves.
    timeoutMs: 60_000,
    ...options,
  })
  onTestFinished(() => {
    safeFetch.close().catch(() => {})
  })
  return safeFetch
}

/** A resolver that returns these addresses in order, then repeats the last, and counts its calls. */
export function resolver(...answers: [readonly string[], ...(readonly string[])[]]) {
  const asked: string[] = []
  const resolve = (hostname: string) => {
    asked.push(hostname)
    return Promise.resolve(answers[asked.length - 1] ?? answers.at(-1) ?? [])
  }
  return { resolve, asked }
}

/** A timer that the test fires. */
export function manualTimer() {
  let expire: (() => void) | undefined
  return {
    startTimer: (_ms: number, onExpire: () => void) => {
      expire = onExpire
      return () => {}
    },
    expire: () => expire?.(),
  }
}

/** The error of a request that must fail. */
export async function failure(request: Promise<unknown>): Promise<SafeFetchError> {
  try {
    await request
  } catch (error) {
    if (error instanceof SafeFetchError) return error
    throw error
  }
  throw new Error('The request succeeded')
}

/** One private address of each kind. */
export const inside = [
  '127.0.0.1',
  '127.0.0.53',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16',
  '100.64.0.1',
  '100.100.100.200',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '198.18.0.1',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  '2001:db8::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
]
