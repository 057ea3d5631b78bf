/** How a source is signed: what its owner asks for, merged with what is there, as it is stored. */
import type { Clock } from '@strongroom/kit/clock'
import type { SourceChanges } from '../db/sources.ts'
import { ferryhookError } from '../errors.ts'
import type { Source } from '../items/source.ts'
import {
  activeSecrets,
  firstSecret,
  rotateSecret,
  type SecretList,
  TooManySecrets,
} from '../signing/secret-list.ts'
import { checkSigning, signingAttributes } from '../verification/configuration.ts'
import type { KeptSecrets } from './kept-secrets.ts'

export interface SigningInput {
  provider?: Source['provider'] | undefined
  /** null removes it, and with it the verification. */
  signingSecret?: string | null | undefined
  signingAlgorithm?: string | undefined
  signingOptions?: Record<string, unknown> | undefined
}

export function createSourceSigning({ kept, clock }: { kept: KeptSecrets; clock: Clock }) {
  type Place = Pick<Source, 'sourceId' | 'userId' | 'provider'>

  /** What to store, or `invalid_signing`. */
  async function attributesOf(
    source: Place,
    list: SecretList,
    wanted: Pick<SigningInput, 'signingAlgorithm' | 'signingOptions'>,
  ): Promise<SourceChanges> {
    const { provider } = source
    const secrets = activeSecrets(list, clock.now())
    const checked = checkSigning({ provider, ...wanted, secrets })
    if (!checked.ok) {
      const details = checked.problems.map(({ path, message }) => ({
        path: `body.${path}`,
        message,
      }))
      throw ferryhookError('invalid_signing', { details })
    }
    const signingSecret = list.length === 0 ? undefined : await kept.sealSourceSecrets(source, list)
    if (checked.scheme) return { provider, signingSecret, ...signingAttributes(checked.scheme) }
    // Said in so many words; or nothing was said, and a secret will switch it on.
    const signingAlgorithm = wanted.signingAlgorithm === 'none' ? 'none' : undefined
    return { provider, signingSecret, signingAlgorithm, signingOptions: undefined }
  }

  return {
    ofNew(source: Place, input: SigningInput): Promise<SourceChanges> {
      const { signingSecret } = input
      const list = signingSecret ? firstSecret(signingSecret, clock.now()) : []
      return attributesOf(source, list, input)
    },

    /** A secret that is given replaces those in force at once. */
    async ofChanged(source: Source, input: SigningInput): Promise<SourceChanges> {
      const provider = input.provider ?? source.provider
      const { signingSecret } = input
      const list =
        signingSecret === undefined
          ? await kept.sourceSecrets(source)
          : signingSecret === null
            ? []
            : firstSecret(signingSecret, clock.now())
      // Another provider signs in another way; without a secret there is nothing to verify with.
      const isSame = provider === source.provider && signingSecret !== null
      const signingAlgorithm =
        input.signingAlgorithm ?? (isSame ? source.signingAlgorithm : undefined)
      const keepsOptions = isSame && signingAlgorithm === source.signingAlgorithm
      const signingOptions = input.signingOptions ?? (keepsOptions ? optionsOf(source) : undefined)
      return attributesOf({ ...source, provider }, list, { signingAlgorithm, signingOptions })
    },

    /** The secrets in force stay so for the overlap. */
    async ofRotated(
      source: Source,
      { signingSecret, overlapSeconds }: { signingSecret: string; overlapSeconds: number },
    ): Promise<SourceChanges> {
      const list = await kept.sourceSecrets(source)
      if (list.length === 0) throw ferryhookError('no_secret')
      const rotated = rotatedList(list, signingSecret, { now: clock.now(), overlapSeconds })
      const { signingAlgorithm } = source
      return attributesOf(source, rotated, { signingAlgorithm, signingOptions: optionsOf(source) })
    },
  }
}

export function rotatedList(...given: Parameters<typeof rotateSecret>): SecretList {
  try {
    return rotateSecret(...given)
  } catch (error) {
    throw error instanceof TooManySecrets ? ferryhookError('too_many_secrets') : error
  }
}

function optionsOf({ signingOptions }: Source): Record<string, unknown> | undefined {
  if (signingOptions === undefined) return undefined
  return JSON.parse(signingOptions) as Record<string, unknown>
}
