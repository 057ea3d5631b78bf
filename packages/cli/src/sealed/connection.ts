/** How Sealed's commands connect to a server. */
import { defineConfig } from '@strongroom/kit/config'
import { createSealedApi, type SealedApi } from '@strongroom/sealed/client/api'
import { isPrivateConnection } from '@strongroom/sealed/client/find-server'
import { defaultRetry, type RetryOptions } from '@strongroom/sealed/client/retry'
import { parseBase } from '@strongroom/sealed/crypto/link'
import { sealedSettings } from '@strongroom/sealed/settings'
import {
  type CommandInput,
  type CommandOption,
  type Output,
  usageError,
  DEFAULT_SERVER,
} from '../command.ts'
import { pluralize } from '../output.ts'

export const connectionOptions = {
  insecure: { summary: 'Allow plain http to another machine' },
} as const satisfies Record<string, CommandOption>

export const exitCodes = `Exit codes: 0 success, 1 failure, 2 invalid command line or link, 3 not available (wrong link,
already read, burned or expired; the response does not reveal which), 4 wrong or no passphrase.`

/** The server for a new secret. */
export function serverOf({ options, env }: Pick<CommandInput, 'options' | 'env'>): string {
  const names = ['STRONGROOM_SERVER', 'SEALED_ORIGIN', 'PUBLIC_URL']
  const [fromEnv] = names.map((name) => env[name]?.trim()).filter(Boolean)
  const server = options['server'] ?? fromEnv ?? DEFAULT_SERVER
  try {
    return parseBase(String(server))
  } catch {
    throw usageError('The server must be an address such as https://strongroom.example')
  }
}

export function connect(
  base: string,
  { options }: Pick<CommandInput, 'options'>,
  apiToken?: string,
): SealedApi {
  if (!isPrivateConnection(base) && options['insecure'] !== true) {
    throw usageError(
      'Plain http can be intercepted: use https, or --insecure in a network you trust',
    )
  }
  return createSealedApi({ base, apiToken })
}

const tokenSetting = defineConfig({ SEALED_TOKEN: sealedSettings.SEALED_TOKEN })

/** Without the other settings, which would load the server. */
export function readApiToken({
  SEALED_TOKEN,
  SEALED_TOKEN_FILE,
}: NodeJS.ProcessEnv): string | undefined {
  return tokenSetting.parse({ SEALED_TOKEN, SEALED_TOKEN_FILE }).SEALED_TOKEN
}

/** Retries like the client does, and reports it. */
export function retryWithProgress(output: Pick<Output, 'progress'>): RetryOptions {
  let isLost = false
  return {
    ...defaultRetry,
    onWait(reason, seconds) {
      if (reason === 'rate_limited') {
        output.progress(`Rate limited: retrying in ${pluralize(seconds, 'second')}`)
      } else if (!isLost) {
        output.progress('The response was lost: retrying')
        isLost = true
      }
    },
  }
}
