/**
 * Fetches and caches the certificates that PayPal signs with, from the address that a request names.
 * Anyone can send such requests, so only PayPal's own addresses are fetched, few in parallel, and
 * after too many failures none for a while. The certificate at an address never changes.
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

const ADDRESS =
  /^https:\/\/api(?:-m)?(\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[\w-]{1,100}$/

const subjects = {
  live: 'messageverificationcerts.paypal.com',
  sandbox: 'messageverificationcerts.sandbox.paypal.com',
}

const MAX_CACHED_CHAINS = 100
const MAX_PARALLEL_FETCHES = 5
const MAX_FAILURES_PER_MINUTE = 10

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
}): PayPalCertificates {
  const chains = new LRUCache<string, X509Certificate[]>({ max: MAX_CACHED_CHAINS })
  const loading = new Map<string, Promise<X509Certificate[] | FailureReason>>()
  let authorities: X509Certificate[] | undefined
  let failures = { minute: 0, count: 0 }

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
  ): Promise<X509Certificate[] | FailureReason> {
    const minute = Math.floor(clock.now() / 60_000)
    if (failures.minute !== minute) failures = { minute, count: 0 }
    if (failures.count >= MAX_FAILURES_PER_MINUTE || loading.size >= MAX_PARALLEL_FETCHES) {
      return 'certificate_unavailable'
    }
    const found = load(url, subject).finally(() => loading.delete(url))
    loading.set(url, found)
    const chain = await found
    if (typeof chain === 'string') failures.count += 1
    else chains.set(url, chain)
    return chain
  }

  return async (url, environment) => {
    const [matched, sandbox] = ADDRESS.exec(url) ?? []
    if (matched === undefined) return 'untrusted_certificate'
    if ((sandbox === undefined ? 'live' : 'sandbox') !== environment) return 'untrusted_certificate'
    const chain =
      chains.get(url) ?? (await (loading.get(url) ?? fetchOnce(url, subjects[environment])))
    if (typeof chain === 'string') return chain
    const [leaf] = chain
    return leaf && areCurrent(chain, clock.now()) ? leaf : 'untrusted_certificate'
  }
}
