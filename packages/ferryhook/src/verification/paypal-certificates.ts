/**
 * Fetches and caches the certificates that PayPal signs with, from the address that a request names.
 * Anyone can send such requests, so only PayPal's own addresses are fetched, few in parallel, and
 * after too many failures of a source, or of all together, none for the rest of the minute. The certificate at an address never changes.
 */
import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import type { Clock } from '@strongroom/platform/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { LRUCache } from 'lru-cache'
import { areCurrent, parseCertificates, buildChain } from './certificate-chain.ts'
import type { FailureReason } from './scheme.ts'

export type PayPalEnvironment = 'live' | 'sandbox'

/** The certificate at an address, if it is PayPal's and current; otherwise the reason to reject. */
export type PayPalCertificates = (
  url: string,
  environment: PayPalEnvironment,
) => Promise<X509Certificate | FailureReason>

/** Failures are counted for each source, so that one cannot use up the fetches of the others. */
export type PayPalCertificatesOf = (sourceId: string) => PayPalCertificates

const ADDRESS =
  /^https:\/\/api(?:-m)?(\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[\w-]{1,100}$/

const subjects = {
  live: 'messageverificationcerts.paypal.com',
  sandbox: 'messageverificationcerts.sandbox.paypal.com',
}

const MAX_CACHED_CHAINS = 100
const MAX_PARALLEL_FETCHES = 20
const MAX_PARALLEL_FETCHES_PER_SOURCE = 5
const MAX_FAILURES_PER_MINUTE_AND_SOURCE = 10
const MAX_FAILURES_PER_MINUTE = 100

export function createPayPalCertificates({
  fetch,
  clock,
  roots = rootCertificates,
}: {
  fetch: (
    url: string,
  ) => Promise<Pick<Awaited<ReturnType<SafeFetch>>, 'status' | 'body' | 'truncated'>>
  clock: Clock
  /** Root certificates in PEM; defaults to those of Node. */
  roots?: readonly string[]
}): PayPalCertificatesOf {
  const chains = new LRUCache<string, X509Certificate[]>({ max: MAX_CACHED_CHAINS })
  const loading = new Map<string, Promise<X509Certificate[] | FailureReason>>()
  /** Running fetches by source. */
  const fetching = new Map<string, number>()
  let authorities: X509Certificate[] | undefined
  /** Of this minute; the map has at most one entry for each failure. */
  let failures = { minute: 0, total: 0, bySource: new Map<string, number>() }

  async function load(url: string, subject: string): Promise<X509Certificate[] | FailureReason> {
    const pem = await download(url)
    if (pem === undefined) return 'certificate_unavailable'
    authorities ??= roots.map((root) => new X509Certificate(root))
    const chain = buildChain(parseCertificates(pem) ?? [], authorities)
    const name = chain?.[0]?.checkHost(subject, { subject: 'never', wildcards: false })
    return chain && name !== undefined ? chain : 'untrusted_certificate'
  }

  async function download(url: string): Promise<string | undefined> {
    try {
      const { status, body, truncated } = await fetch(url)
      return status === 200 && !truncated ? Buffer.from(body).toString('latin1') : undefined
    } catch {
      // Whatever failed on the network, the sender retries.
      return undefined
    }
  }

  async function fetchOnce(
    url: string,
    subject: string,
    sourceId: string,
  ): Promise<X509Certificate[] | FailureReason> {
    if (!mayFetch(sourceId)) return 'certificate_unavailable'
    add(fetching, sourceId, 1)
    const found = load(url, subject).finally(() => {
      loading.delete(url)
      if (add(fetching, sourceId, -1) === 0) fetching.delete(sourceId)
    })
    loading.set(url, found)
    const chain = await found
    if (typeof chain === 'string') {
      failures.total += 1
      add(failures.bySource, sourceId, 1)
    } else chains.set(url, chain)
    return chain
  }

  /** Running fetches count as failures, so that parallel requests do not exceed the limits. */
  function mayFetch(sourceId: string): boolean {
    const minute = Math.floor(clock.now() / 60_000)
    if (failures.minute !== minute) failures = { minute, total: 0, bySource: new Map() }
    const running = fetching.get(sourceId) ?? 0
    const failed = failures.bySource.get(sourceId) ?? 0
    return (
      running < MAX_PARALLEL_FETCHES_PER_SOURCE &&
      loading.size < MAX_PARALLEL_FETCHES &&
      failed + running < MAX_FAILURES_PER_MINUTE_AND_SOURCE &&
      failures.total + loading.size < MAX_FAILURES_PER_MINUTE
    )
  }

  return (sourceId) => async (url, environment) => {
    const [matched, sandbox] = ADDRESS.exec(url) ?? []
    if (matched === undefined) return 'untrusted_certificate'
    if ((sandbox === undefined ? 'live' : 'sandbox') !== environment) return 'untrusted_certificate'
    const chain =
      chains.get(url) ??
      (await (loading.get(url) ?? fetchOnce(url, subjects[environment], sourceId)))
    if (typeof chain === 'string') return chain
    const [leaf] = chain
    return leaf && areCurrent(chain, clock.now()) ? leaf : 'untrusted_certificate'
  }
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): number {
  const count = (counts.get(key) ?? 0) + by
  counts.set(key, count)
  return count
}
