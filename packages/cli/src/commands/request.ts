/** `strongroom request`: asks someone else for a secret that only the requester can open. */
import { Failure } from '@strongroom/kit/errors'
import { createRequest } from '@strongroom/sealed/client/create-request'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { findSealed } from '@strongroom/sealed/client/find-server'
import { formatLink } from '@strongroom/sealed/crypto/link'
import { MAX_REQUEST_SECONDS, MIN_REQUEST_SECONDS } from '@strongroom/sealed/limits'
import { type Command, DEFAULT_SERVER, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'
import {
  connect,
  connectionOptions,
  exitCodes,
  readApiToken,
  retryWithProgress,
  serverOf,
} from '../sealed/connection.ts'
import { formatUntil } from '../sealed/output.ts'

const requestCommand: Command = {
  name: 'request',
  kind: 'client',
  summary: 'Ask somebody for a secret that only you can open',
  secretArgs: true,
  options: {
    ttl: {
      value: 'TIME',
      summary: 'How long it can be filled: 2h to 7d (7d), at most the maximum of the server',
    },
    server: {
      value: 'URL',
      summary: `Where to request it (STRONGROOM_SERVER, SEALED_ORIGIN, PUBLIC_URL, ${DEFAULT_SERVER})`,
    },
    ...connectionOptions,
  },
  about: `Prints two lines: the request link, to send to the person who has the secret, and your own link,
which opens the secret once it was put in ("strongroom open"). Keep your own link to yourself: nobody
else can open the secret, and nobody can recover the link.

The request link works once, in a browser or with "strongroom fill". Compare the fingerprint with the
sender where somebody could have replaced the link on its way. To withdraw a request, fill it yourself.

With the API token in SEALED_TOKEN, or in the file that SEALED_TOKEN_FILE names, the sender needs no
proof of work.

${exitCodes}`,
  async run(input) {
    const seconds = parseLifetime(input.options['ttl'])
    const server = serverOf(input)
    const apiToken = readApiToken(input.env)
    const retry = retryWithProgress(input.output)
    const created = await findSealed(server, async (base) => {
      const api = connect(base, input, apiToken)
      return { base: api.base, ...(await createRequest(api, { seconds }, retry)) }
    }).catch((error: unknown) => explainRefusal(error, apiToken !== undefined))
    const requestLink = formatLink(created.base, created.request)
    const ownLink = formatLink(created.base, created.own)
    const { fingerprint, expiresAt } = created
    input.output.result(
      process.stdout.isTTY
        ? `Request link, to send (works once, until ${formatUntil(expiresAt)}):
  ${requestLink}
Fingerprint, to compare with the sender: ${fingerprint}
Your own link, which opens the secret; keep it, and do not send it:
  ${ownLink}
`
        : `${requestLink}\n${ownLink}\n`,
      { requestLink, ownLink, fingerprint, expiresAt },
    )
  },
}

function parseLifetime(given: string | boolean | undefined): number {
  const seconds = parseDuration('ttl', typeof given === 'string' ? given : '7d')
  if (seconds >= MIN_REQUEST_SECONDS && seconds <= MAX_REQUEST_SECONDS) return seconds
  throw usageError('--ttl must be from 2h to 7d, such as 2h, 1d or 7d')
}

/** A server can have requests turned off, or left to holders of API tokens. */
function explainRefusal(error: unknown, hasToken: boolean): never {
  const code = error instanceof RequestFailed ? error.code : undefined
  if (code === 'invalid_api_token' && !hasToken) {
    throw new Failure(
      'invalid_api_token',
      'This server makes requests only with an API token: set SEALED_TOKEN.',
    )
  }
  if (code !== 'not_sealed') throw error
  throw new Failure(
    'not_sealed',
    'Sealed was not found at this URL, or its requests are turned off. Use the URL of its page.',
  )
}

export const commands: readonly Command[] = [requestCommand]
