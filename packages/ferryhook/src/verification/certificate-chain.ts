/**
 * Certificates that come in a file instead of a TLS handshake, for which Node has no check of its
 * own. Names, key usage and key identifiers of each link are compared by OpenSSL (`checkIssued`).
 * Constraints on names and lengths of paths are not looked at: whoever asks knows the one name that
 * is right, and where the file came from.
 */
import { X509Certificate } from 'node:crypto'

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a PEM file in their order; undefined if one cannot be read or there is none. */
export function certificatesOf(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(PEM)
  if (blocks === null || blocks.length > 10) return undefined
  try {
    const certificates = blocks.map((block) => new X509Certificate(block))
    // OpenSSL may know the certificate but not its kind of key.
    return certificates.every(({ publicKey }) => publicKey.type === 'public')
      ? certificates
      : undefined
  } catch {
    return undefined
  }
}

/** From the first certificate up to below a root; undefined if no root vouches for it. */
export function chainOf(
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
    // Each is used once, so that two that vouch for each other come to an end.
    authorities = authorities.filter((authority) => authority !== last)
  }
  return undefined
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  return issued.checkIssued(issuer) && issued.verify(issuer.publicKey)
}

export function areInForce(chain: readonly X509Certificate[], now: number): boolean {
  return chain.every(
    ({ validFrom, validTo }) => Date.parse(validFrom) <= now && now <= Date.parse(validTo),
  )
}
