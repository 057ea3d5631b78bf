/** `strongroom seal`: encrypts a text or a file and prints the link that opens it once. */
import type { SecretOptions } from '@strongroom/sealed/api'
import { findSealed } from '@strongroom/sealed/client/find-server'
import { retryWhenRateLimited } from '@strongroom/sealed/client/retry'
import { type NewSecret, sealSecret } from '@strongroom/sealed/client/seal-secret'
import { formatLink } from '@strongroom/sealed/crypto/link'
import { solveWork } from '@strongroom/sealed/crypto/proof-of-work'
import { MAX_VIEWS } from '@strongroom/sealed/limits'
import { type Command, usageError, DEFAULT_SERVER } from '../command.ts'
import { formatDuration } from '../output.ts'
import {
  connect,
  connectionOptions,
  exitCodes,
  readApiToken,
  retryWithProgress,
  serverOf,
} from '../sealed/connection.ts'
import {
  askNewPassphrase,
  asksForPassphrase,
  readConfiguredPassphrase,
  passphraseHelp,
  passphraseOptions,
  refuseSharedInput,
} from '../sealed/passphrase.ts'
import { parseTtl, secretContent } from '../sealed/input.ts'
import { formatUntil, workProgress } from '../sealed/output.ts'

const sealCommand: Command = {
  name: 'seal',
  kind: 'client',
  summary: 'Seal a secret and print the link that opens it once',
  secretArgs: true,
  options: {
    file: { value: 'PATH', summary: 'Seal this file, with its name, instead of a text' },
    ttl: {
      value: 'TIME',
      summary: 'Expiry: 15m to 90d, such as 900s, 15m, 1h or 7d (the server says, usually 1d)',
    },
    views: { value: 'N', summary: 'Number of views: 1 to 5 (the server says, usually 1)' },
    ...passphraseOptions,
    receipt: { summary: 'Record whether it was opened, for "strongroom receipt"' },
    server: {
      value: 'URL',
      summary: `Where to seal it (STRONGROOM_SERVER, SEALED_ORIGIN, PUBLIC_URL, ${DEFAULT_SERVER})`,
    },
    ...connectionOptions,
  },
  about: `Reads up to 50 KB of text from standard input, or asks for it on a terminal. Nothing is trimmed: the
output of "echo" ends with a newline, that of "printf %s" does not. With --file, seals any file; the
file and its name have at most 50 KB together. "strongroom seal < PATH" seals a text without a name.
Everything is encrypted here; the server receives neither the secret, nor its name, nor the key.

Prints two lines: the link for the reader, and the management link for you, for "strongroom burn"
and "strongroom receipt".

URL is the address of the server, with Sealed at /sealed/ or at the root, or the address of Sealed's
page.

With the API token in SEALED_TOKEN, or in the file that SEALED_TOKEN_FILE names, it needs no proof of
work ("strongroom sealed token add").

${passphraseHelp}

${exitCodes}`,
  async run(input) {
    const { options, output, json } = input
    const chosen = { ttl: parseTtl(options['ttl']), views: parseViews(options['views']) }
    const server = serverOf(input)
    const apiToken = readApiToken(input.env)
    const file = typeof options['file'] === 'string' ? options['file'] : undefined
    if (file === undefined) refuseSharedInput(options, 'the secret')
    const asks = asksForPassphrase(options)
    const content = await secretContent(file)
    const passphrase =
      (await readConfiguredPassphrase(input)) ?? (asks ? await askNewPassphrase() : undefined)
    const retry = retryWithProgress(output)
    const { api, issued } = await findSealed(server, async (base) => {
      const found = connect(base, input, apiToken)
      return { api: found, issued: await retryWhenRateLimited(retry, () => found.issueToken()) }
    })
    const { ttlSeconds, maxViews } = withDefaults(chosen, issued.options)
    const progress = workProgress(json ? undefined : process.stderr)
    const made = await sealSecret(
      api,
      { content, passphrase, ttlSeconds, maxViews, receipt: options['receipt'] === true },
      {
        issued,
        solve: (challenge, ciphertext, { signal }) =>
          solveWork(challenge, ciphertext, { signal, onProgress: progress.show }),
      },
    ).finally(progress.clear)
    const link = formatLink(api.base, made.secret)
    const managementLink = formatLink(api.base, made.management)
    const { expiresAt } = made
    const until = formatUntil(expiresAt)
    output.result(
      process.stdout.isTTY
        ? labelled({ link, managementLink, until, maxViews, passphrase })
        : `${link}\n${managementLink}\n`,
      { link, managementLink, expiresAt },
    )
  },
}

function labelled(made: {
  link: string
  managementLink: string
  until: string
  maxViews: number
  passphrase: string | undefined
}): string {
  const times = made.maxViews === 1 ? 'once' : `${made.maxViews} times`
  const needs = made.passphrase === undefined ? '' : ', with the passphrase'
  return `Link for the reader (${times}, until ${made.until}${needs}):
  ${made.link}
Management link, for you, to burn it or to get its receipt:
  ${made.managementLink}
`
}

interface Chosen {
  ttl: number | undefined
  views: number | undefined
}

/** The operator may have lowered the maxima. */
function withDefaults(
  { ttl, views }: Chosen,
  server: SecretOptions,
): Pick<NewSecret, 'ttlSeconds' | 'maxViews'> {
  const { defaultTtlSeconds, maxTtlSeconds, defaultViews, maxViews } = server
  const source = 'the maximum of this server'
  if (ttl !== undefined && ttl > maxTtlSeconds) {
    throw usageError(`--ttl must be at most ${formatDuration(maxTtlSeconds)}, ${source}`)
  }
  if (views !== undefined && views > maxViews) {
    throw usageError(`--views must be at most ${maxViews}, ${source}`)
  }
  return { ttlSeconds: ttl ?? defaultTtlSeconds, maxViews: views ?? defaultViews }
}

function parseViews(given: string | boolean | undefined): number | undefined {
  if (given === undefined) return undefined
  const views = typeof given === 'string' && /^\d$/.test(given) ? Number(given) : 0
  if (views >= 1 && views <= MAX_VIEWS) return views
  throw usageError(`--views must be a number from 1 to ${MAX_VIEWS}`)
}

export const commands: readonly Command[] = [sealCommand]
