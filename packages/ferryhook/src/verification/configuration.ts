/**
 * How a source is verified, as its owner asks for it and as it is stored: `signingAlgorithm` names
 * the way of signing, `signingOptions` has its options as JSON.
 */
import type { ErrorDetail } from '@strongroom/kit/errors'
import type { Source } from '../items/source.ts'
import { schemes, type SigningAlgorithm, SigningScheme } from './schemes.ts'

export interface SigningInput {
  provider: Source['provider']
  /** Unless given, the provider's own as soon as there is a secret; `none` verifies nothing. */
  signingAlgorithm?: string | undefined
  signingOptions?: Readonly<Record<string, unknown>> | undefined
  /** The secrets that will be in force. */
  secrets: readonly string[]
}

/** What to store, or what is wrong; undefined as scheme if nothing is verified. */
export type SigningCheck =
  | { ok: true; scheme: SigningScheme | undefined }
  | { ok: false; problems: ErrorDetail[] }

/** Names by which people also ask for them. */
const aliases: Readonly<Record<string, SigningAlgorithm>> = {
  'generic-hmac-sha256': 'hmac-sha256',
  svix: 'standard-webhooks',
}

const LONGEST_SECRET = 1_024

export function checkSigning(input: SigningInput): SigningCheck {
  const { secrets, signingOptions } = input
  const algorithm = algorithmOf(input, secrets.length > 0)
  if (algorithm === undefined) return { ok: true, scheme: undefined }
  if (!isAlgorithm(algorithm)) return wrong('signingAlgorithm', unknownAlgorithm)
  const parsed = SigningScheme.safeParse({ ...signingOptions, algorithm })
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({
      path: ['signingOptions', ...path].join('.'),
      message,
    }))
    return { ok: false, problems }
  }
  if (secrets.length === 0) {
    return wrong('signingSecret', 'Give the secret that the signatures are made with')
  }
  for (const secret of secrets) {
    const problem = secretProblem(algorithm, secret)
    if (problem !== undefined) return wrong('signingSecret', problem)
  }
  return { ok: true, scheme: parsed.data }
}

/** The attributes of a source that say how it is verified. */
export function signingAttributes({
  algorithm,
  ...options
}: SigningScheme): Required<Pick<Source, 'signingAlgorithm' | 'signingOptions'>> {
  return { signingAlgorithm: algorithm, signingOptions: JSON.stringify(options) }
}

/**
 * How the requests to a source are verified; undefined if they are not. Throws if what is stored
 * makes no sense: nothing may be taken for verified then.
 */
export function signingOf(
  source: Pick<Source, 'provider' | 'signingAlgorithm' | 'signingOptions' | 'signingSecret'>,
): SigningScheme | undefined {
  const algorithm = algorithmOf(source, source.signingSecret !== undefined)
  if (algorithm === undefined) return undefined
  const options = JSON.parse(source.signingOptions ?? '{}') as object
  return SigningScheme.parse({ ...options, algorithm })
}

function algorithmOf(
  { provider, signingAlgorithm }: Pick<SigningInput, 'provider' | 'signingAlgorithm'>,
  hasSecret: boolean,
): string | undefined {
  if (signingAlgorithm === 'none') return undefined
  if (signingAlgorithm !== undefined) {
    return Object.hasOwn(aliases, signingAlgorithm) ? aliases[signingAlgorithm] : signingAlgorithm
  }
  if (!hasSecret) return undefined
  return provider === 'custom' ? 'hmac-sha256' : provider
}

function isAlgorithm(name: string): name is SigningAlgorithm {
  return Object.hasOwn(schemes, name)
}

const unknownAlgorithm = `Give one of: none, ${Object.keys(schemes).join(', ')}`

function secretProblem(algorithm: SigningAlgorithm, secret: string): string | undefined {
  if (secret === '') return 'Give a secret that is not empty'
  if (secret !== secret.trim()) return 'Give the secret without spaces and line breaks around it'
  if (secret.length > LONGEST_SECRET) return `Give a secret of at most ${LONGEST_SECRET} characters`
  return schemes[algorithm].secretProblem?.(secret)
}

function wrong(path: string, message: string): SigningCheck {
  return { ok: false, problems: [{ path, message }] }
}
