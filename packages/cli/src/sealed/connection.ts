/** How the commands of Sealed reach their server. */
import { createSealedApi, type SealedApi } from '@strongroom/sealed/client/api'
import { isPrivateConnection } from '@strongroom/sealed/client/find-server'
import { defaultRetry, type RetryOptions } from '@strongroom/sealed/client/retry'
import { parseBase } from '@strongroom/sealed/crypto/link'
import {
  type CommandInput,
  type CommandOption,
  type Output,
  UsageError,
  DEFAULT_SERVER,
} from '../command.ts'

export const connectionOptions = {
  insecure: { summary: 'Allow plain http to another machine' },
} as const satisfies Record<string, CommandOption>

export const exitCodes = `Exit codes: 0 done, 1 failed, 2 wrong command line or link, 3 not available (wrong, read, burned
or expired; the response does not reveal which), 4 wrong or no passphrase.`

/** The server that a new secret is made on. */
export function serverOf({ options, env }: Pick<CommandInput, 'options' | 'env'>): string {
  const names = ['STRONGROOM_SERVER', 'SEALED_ORIGIN', 'PUBLIC_URL']
  const [fromEnv] = names.map((name) => env[name]?.trim()).filter(Boolean)
  const server = options['server'] ?? fromEnv ?? DEFAULT_SERVER
  try {
    return parseBase(String(server))
  } catch {
    throw new UsageError('The server must be an address such as https://strongroom.example')
  }
}

export function connect(base: string, { options }: Pick<CommandInput, 'options'>): SealedApi {
  if (!isPrivateConnection(base) && options['insecure'] !== true) {
    throw new UsageError(
      'Plain http lets others on the way read along: use https, or --insecure in a network you trust',
    )
  }
  return createSealedApi({ base })
}

/** Waits as the client does, and says so. */
export function retryWithProgress(output: Pick<Output, 'progress'>): RetryOptions {
  let isLost = false
  return {
    ...defaultRetry,
    onWait(reason, seconds) {
      if (reason === 'rate_limited') {
        output.progress(`The server asks to wait: going on in ${seconds} seconds`)
      } else if (!isLost) {
        output.progress('The answer got lost, asking again')
        isLost = true
      }
    },
  }
}
