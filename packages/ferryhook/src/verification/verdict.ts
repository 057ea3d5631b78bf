/** What comes of checking a signature, in words that the owner of a source may read. */

/** Why a request was refused. Nobody but the owner learns it: the sender is told no more than "no". */
export const reasons = {
  no_secret: 'The source has no secret that this kind of signature can use: set one',
  missing_header: 'A header of the signature is missing: check that the sender signs its requests',
  malformed_header:
    'A header of the signature cannot be read: check that the source is for this provider',
  malformed_body: 'The body is not of a form that the provider signs: check what the sender sends',
  no_match:
    'The signature is wrong: check the secret, and that nothing on the way changes body or address',
  too_old:
    'The signature is right but too old: check the clocks, or whether somebody sent it again',
  too_new: 'The signature is right but from the future: check the clocks of sender and server',
  untrusted_certificate:
    'The certificate of the signature is not a valid one of the provider: check its environment',
  certificate_unavailable:
    'The certificate of the signature could not be fetched: the sender has to try again',
} as const

export type Reason = keyof typeof reasons

export type Verdict = { ok: true } | { ok: false; reason: Reason }

export const accepted: Verdict = { ok: true }

export function refused(reason: Reason): Verdict {
  return { ok: false, reason }
}
