/** Turns the requested verification of a source into the attributes to store. */
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError } from '../errors.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import {
  activeSecrets,
  newSecretList,
  rotateSecret,
  type SecretList,
} from '../signing/secret-list.ts'
import { checkSigning, signingAttributes } from '../verification/configuration.ts'
import type { Source } from './item.ts'
import type { SourceChanges } from './store.ts'

export interface SigningInput {
  provider?: Source['provider'] | undefined
  /** null removes the secret, and with it the verification; a provider then needs `none`. */
  signingSecret?: string | null | undefined
  signingAlgorithm?: string | undefined
  signingOptions?: Record<string, unknown> | undefined
}

type SourceId = Pick<Source, 'sourceId' | 'userId' | 'provider'>

export function createSourceSigning({
  sealedSecrets,
  clock,
}: {
  sealedSecrets: SealedSecrets
  clock: Clock
}) {
  /** Throws `invalid_signing`. */
  async function toAttributes(
    source: SourceId,
    list: SecretList,
    input: Pick<SigningInput, 'signingAlgorithm' | 'signingOptions'>,
  ): Promise<SourceChanges> {
    const { provider } = source
    const secrets = activeSecrets(list, clock.now())
    const checked = checkSigning({ provider, ...input, secrets })
    if (!checked.ok) {
      const details = checked.problems.map(({ path, message }) => ({
        path: `body.${path}`,
        message,
      }))
      throw ferryhookError('invalid_signing', { details })
    }
    const signingSecret =
      list.length === 0 ? undefined : await sealedSecrets.sealSourceSecrets(source, list)
    if (checked.scheme) return { provider, signingSecret, ...signingAttributes(checked.scheme) }
    // An explicit `none` stays off; without an algorithm, setting a secret turns verification on.
    const signingAlgorithm = input.signingAlgorithm === 'none' ? 'none' : undefined
    return { provider, signingSecret, signingAlgorithm, signingOptions: undefined }
  }

  return {
    forNew(source: SourceId, input: SigningInput): Promise<SourceChanges> {
      const { signingSecret } = input
      const list = signingSecret ? newSecretList(signingSecret, clock.now()) : []
      return toAttributes(source, list, input)
    },

    /** A new secret replaces the current ones immediately. */
    async forUpdate(source: Source, input: SigningInput): Promise<SourceChanges> {
      const provider = input.provider ?? source.provider
      const { signingSecret } = input
      const list =
        signingSecret === undefined
          ? await sealedSecrets.sourceSecrets(source)
          : signingSecret === null
            ? []
            : newSecretList(signingSecret, clock.now())
      // Another provider signs differently, a removed secret ends the verification, a new one resumes it.
      const wasOff = source.signingAlgorithm === 'none'
      const fits = signingSecret === undefined || (signingSecret === null) === wasOff
      const isSame = provider === source.provider && fits
      const signingAlgorithm =
        input.signingAlgorithm ?? (isSame ? source.signingAlgorithm : undefined)
      const keepsOptions = isSame && signingAlgorithm === source.signingAlgorithm
      const signingOptions = input.signingOptions ?? (keepsOptions ? optionsOf(source) : undefined)
      return toAttributes({ ...source, provider }, list, { signingAlgorithm, signingOptions })
    },

    /** The current secrets stay valid for the overlap. */
    async forRotation(
      source: Source,
      { signingSecret, overlapSeconds }: { signingSecret: string; overlapSeconds: number },
    ): Promise<SourceChanges> {
      const list = await sealedSecrets.sourceSecrets(source)
      if (list.length === 0) throw ferryhookError('no_secret')
      const rotated = rotateOrThrow(list, signingSecret, { now: clock.now(), overlapSeconds })
      const { signingAlgorithm } = source
      return toAttributes(source, rotated, { signingAlgorithm, signingOptions: optionsOf(source) })
    },
  }
}

/** Throws `too_many_secrets`. */
export function rotateOrThrow(...args: Parameters<typeof rotateSecret>): SecretList {
  const rotated = rotateSecret(...args)
  if (!rotated) throw ferryhookError('too_many_secrets')
  return rotated
}

function optionsOf({ signingOptions }: Source): Record<string, unknown> | undefined {
  if (signingOptions === undefined) return undefined
  return JSON.parse(signingOptions) as Record<string, unknown>
}
