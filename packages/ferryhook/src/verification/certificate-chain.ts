/**
 * Validates certificates from a file instead of a TLS handshake, which Node has no function for.
 * OpenSSL compares names, key usage and key identifiers of each link (`checkIssued`). Name and path
 * length constraints are not checked: the caller knows the expected name and the origin of the file.
 */
import { X509Certificate } from 'node:crypto'

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a PEM file, in order; undefined if there are none or one is unreadable. */
export function parseCertificates(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(PEM)
  if (blocks === null || blocks.length > 10) return undefined
  try {
    const certificates = blocks.map((block) => new X509Certificate(block))
    // OpenSSL may parse a certificate whose type of key it does not support.
    return certificates.every(({ publicKey }) => publicKey.type === 'public')
      ? certificates
      : undefined
  } catch {
    return undefined
  }
}

/** From the first certificate up to, but without, a root; undefined if there is no such chain. */
export function buildChain(
  [leaf, ...others]: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): X509Certificate[] | undefined {
  const chain: X509Certificate[] = []
  let authorities = others.filter(({ ca }) => ca)
  for (let last = leaf; last !== undefined;) {
    const issued = last
    chain.push(issued)
    if (roots.some((root) => isIssuer(root, issued))) return chain
    last = authorities.find((authority) => isIssuer(authority, issued))
    // Use each authority once, so that two that issued each other do not loop.
    authorities = authorities.filter((authority) => authority !== last)
  }
  return undefined
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  return issued.checkIssued(issuer) && issued.verify(issuer.publicKey)
}

export function areCurrent(chain: readonly X509Certificate[], now: number): boolean {
  return chain.every(
    ({ validFrom, validTo }) => Date.parse(validFrom) <= now && now <= Date.parse(validTo),
  )
}
