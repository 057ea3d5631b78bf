/**
 * The certificates that PayPal signs with, fetched from where a request says and kept. Anybody can
 * send such requests, so only PayPal's own addresses are asked, few at a time, and when too many
 * lead nowhere, none for a while. What an address gives never changes, so nothing is fetched twice.
 */
import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import type { Clock } from '@strongroom/kit/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { areInForce, certificatesOf, chainOf } from './certificate-chain.ts'
import type { Reason } from './verdict.ts'

export type PayPalEnvironment = 'live' | 'sandbox'

/** The certificate at an address, if it is PayPal's and in force; otherwise the reason to refuse. */
export type PayPalCertificates = (
  url: string,
  environment: PayPalEnvironment,
) => Promise<X509Certificate | Reason>

const ADDRESS =
  /^https:\/\/api(?:-m)?(\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[\w-]{1,100}$/

const subjects = {
  live: 'messageverificationcerts.paypal.com',
  sandbox: 'messageverificationcerts.sandbox.paypal.com',
}

const MOST_KEPT = 100
const MOST_AT_ONCE = 5
const MOST_FAILURES_A_MINUTE = 10

export function createPayPalCertificates({
  fetch,
  clock,
  roots = rootCertificates,
}: {
  fetch: (
    url: string,
  ) => Promise<Pick<Awaited<ReturnType<SafeFetch>>, 'status' | 'body' | 'truncated'>>
  clock: Clock
  /** Authorities in PEM, instead of the ones that come with Node. */
  roots?: readonly string[]
}): PayPalCertificates {
  const chains = new Map<string, X509Certificate[]>()
  const loading = new Map<string, Promise<X509Certificate[] | Reason>>()
  let authorities: X509Certificate[] | undefined
  let failures = { minute: 0, count: 0 }

  async function load(url: string, subject: string): Promise<X509Certificate[] | Reason> {
    const pem = await download(url)
    if (pem === undefined) return 'certificate_unavailable'
    authorities ??= roots.map((root) => new X509Certificate(root))
    const chain = chainOf(certificatesOf(pem) ?? [], authorities)
    const name = chain?.[0]?.checkHost(subject, { subject: 'never', wildcards: false })
    return chain && name !== undefined ? chain : 'untrusted_certificate'
  }

  async function download(url: string): Promise<string | undefined> {
    try {
      const { status, body, truncated } = await fetch(url)
      return status === 200 && !truncated ? Buffer.from(body).toString('latin1') : undefined
    } catch {
      // Whatever went wrong on the network, the sender tries again.
      return undefined
    }
  }

  async function fetchOnce(url: string, subject: string): Promise<X509Certificate[] | Reason> {
    const minute = Math.floor(clock.now() / 60_000)
    if (failures.minute !== minute) failures = { minute, count: 0 }
    if (failures.count >= MOST_FAILURES_A_MINUTE || loading.size >= MOST_AT_ONCE) {
      return 'certificate_unavailable'
    }
    const found = load(url, subject).finally(() => loading.delete(url))
    loading.set(url, found)
    const chain = await found
    if (typeof chain === 'string') failures.count += 1
    else keep(url, chain)
    return chain
  }

  function keep(url: string, chain: X509Certificate[]): void {
    const [oldest] = chains.keys()
    if (chains.size >= MOST_KEPT && oldest !== undefined) chains.delete(oldest)
    chains.set(url, chain)
  }

  return async (url, environment) => {
    const [matched, sandbox] = ADDRESS.exec(url) ?? []
    if (matched === undefined) return 'untrusted_certificate'
    if ((sandbox === undefined ? 'live' : 'sandbox') !== environment) return 'untrusted_certificate'
    const chain =
      chains.get(url) ?? (await (loading.get(url) ?? fetchOnce(url, subjects[environment])))
    if (typeof chain === 'string') return chain
    const [leaf] = chain
    return leaf && areInForce(chain, clock.now()) ? leaf : 'untrusted_certificate'
  }
}
