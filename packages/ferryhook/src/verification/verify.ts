/** Whether a request was signed with a secret of its source. */
import type { Check } from './scheme.ts'
import { schemes, type SigningScheme } from './schemes.ts'
import { refused, type Verdict } from './verdict.ts'

export interface Verification extends Check {
  scheme: SigningScheme
}

/** Says no to whatever a request holds; rejects only if the server itself is at fault. */
export async function verifySignature({ scheme, ...check }: Verification): Promise<Verdict> {
  // To an empty key everybody has the right signature.
  const secrets = check.secrets.filter((secret) => secret !== '')
  if (secrets.length === 0) return refused('no_secret')
  return schemes[scheme.algorithm].verify({ ...check, secrets }, scheme)
}
