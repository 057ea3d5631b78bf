/**
 * How a source verifies signatures: `signingAlgorithm` names the scheme, `signingOptions` contains
 * its options, stored as JSON.
 */
import type { ErrorDetail } from '@strongroom/kit/errors'
import type { Source } from '../sources/item.ts'
import { schemes, type SigningAlgorithm, SigningScheme } from './schemes.ts'

export interface SigningInput {
  provider: Source['provider']
  /** Defaults to the provider's scheme; `none` turns verification off. */
  signingAlgorithm?: string | undefined
  signingOptions?: Readonly<Record<string, unknown>> | undefined
  /** The secrets that will be active. */
  secrets: readonly string[]
}

/** The scheme to store, undefined if nothing is verified, or the problems. */
export type SigningCheck =
  | { ok: true; scheme: SigningScheme | undefined }
  | { ok: false; problems: ErrorDetail[] }

/** Other common names of schemes. */
const aliases: Readonly<Record<string, SigningAlgorithm>> = {
  'generic-hmac-sha256': 'hmac-sha256',
  svix: 'standard-webhooks',
}

const MAX_SECRET_LENGTH = 1_024

/** Only a custom source goes without verification unless that is said: others promise their provider. */
export function checkSigning(input: SigningInput): SigningCheck {
  const { provider, secrets, signingOptions } = input
  const algorithm = algorithmOf(input, secrets.length > 0)
  if (algorithm === undefined) {
    const isOff = provider === 'custom' || input.signingAlgorithm === 'none'
    if (!isOff) return wrong('signingSecret', missingSecret)
    const hasOptions = Object.keys(signingOptions ?? {}).length > 0
    return hasOptions ? wrong('signingOptions', uselessOptions) : { ok: true, scheme: undefined }
  }
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
    return wrong('signingSecret', 'Enter the secret that the sender signs with')
  }
  for (const secret of secrets) {
    const problem = secretProblem(algorithm, secret)
    if (problem !== undefined) return wrong('signingSecret', problem)
  }
  return { ok: true, scheme: parsed.data }
}

const missingSecret =
  'Enter the secret that the provider signs with, or set signingAlgorithm to none to accept unverified events'

const uselessOptions = 'Have no effect without verification: set signingSecret, or omit them'

/** The attributes of a source that store its scheme. */
export function signingAttributes({
  algorithm,
  ...options
}: SigningScheme): Required<Pick<Source, 'signingAlgorithm' | 'signingOptions'>> {
  return { signingAlgorithm: algorithm, signingOptions: JSON.stringify(options) }
}

/** Whether a source accepts only verified events. */
export function hasVerification(
  source: Pick<Source, 'provider' | 'signingAlgorithm' | 'signingSecret'>,
): boolean {
  return algorithmOf(source, source.signingSecret !== undefined) !== undefined
}

/**
 * The scheme of a source; undefined if it does not verify signatures. Throws if the stored
 * configuration is invalid, so that no request passes as verified.
 */
export function schemeOf(
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

const unknownAlgorithm = `Must be one of: none, ${Object.keys(schemes).join(', ')}`

function secretProblem(algorithm: SigningAlgorithm, secret: string): string | undefined {
  if (secret === '') return 'Must not be empty'
  if (secret !== secret.trim()) return 'Must not start or end with spaces or line breaks'
  if (secret.length > MAX_SECRET_LENGTH) return `Must be at most ${MAX_SECRET_LENGTH} characters`
  return schemes[algorithm].secretProblem?.(secret)
}

function wrong(path: string, message: string): SigningCheck {
  return { ok: false, problems: [{ path, message }] }
}
