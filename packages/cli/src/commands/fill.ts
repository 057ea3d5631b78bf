/** `strongroom fill`: puts a secret into somebody's request. */
import { fillRequest, requireOpen, sealFill } from '@strongroom/sealed/client/fill-request'
import { formatLink } from '@strongroom/sealed/crypto/link'
import { solveWork } from '@strongroom/sealed/crypto/proof-of-work'
import { fingerprint } from '@strongroom/sealed/crypto/request'
import { TOKEN_SECONDS } from '@strongroom/sealed/limits'
import { type Command, usageError } from '../command.ts'
import { connect, connectionOptions, exitCodes, retryWithProgress } from '../sealed/connection.ts'
import { parseTtl, requestLink, secretContent } from '../sealed/input.ts'
import { formatUntil, workProgress } from '../sealed/output.ts'

const fillCommand: Command = {
  name: 'fill',
  kind: 'client',
  args: '[REQUEST-LINK]',
  summary: 'Put a secret into a request; only the requester can open it',
  secretArgs: true,
  options: {
    file: { value: 'PATH', summary: 'Send this file, with its name, instead of a text' },
    ttl: {
      value: 'TIME',
      summary: 'Expiry, at least 5m after the request: up to 90d (the server says, usually 7d)',
    },
    receipt: { summary: 'Record whether it was opened, for "strongroom receipt"' },
    ...connectionOptions,
  },
  about: `Reads up to 50 KB of text from standard input, or asks for it on a terminal, like "strongroom seal".
With --file, the link may be "-" or missing, and is then read from standard input.

The server does not know who is asking. Fill in a request only if you expected it, and compare the
fingerprint that is shown with the requester. It works once.

Prints the management link, for "strongroom burn" and "strongroom receipt".

${exitCodes}`,
  async run(input) {
    const { options, output, json } = input
    const ttlSeconds = parseTtl(options['ttl'])
    const file = typeof options['file'] === 'string' ? options['file'] : undefined
    const [argument = '-'] = input.args
    if (argument === '-' && file === undefined) {
      throw usageError('Standard input cannot contain both the link and the secret: use --file')
    }
    const request = await requestLink(argument)
    // A little longer than the request, so that its id is not free while its token is valid.
    const earliest = requireOpen(request).expiresAt + TOKEN_SECONDS
    if (ttlSeconds !== undefined && Date.now() / 1000 + ttlSeconds < earliest) {
      throw usageError(
        `--ttl must last until five minutes after the end of the request, ${formatUntil(earliest)}`,
      )
    }
    const api = connect(request.base, input)
    const print = await fingerprint(request)
    output.progress(`Fingerprint of the request, to compare with the requester: ${print}`)
    const content = await secretContent(file)
    const progress = workProgress(json ? undefined : process.stderr)
    const receipt = options['receipt'] === true
    const sealed = await sealFill({ request, content, ttlSeconds, receipt })
    const filled = await fillRequest(api, sealed, {
      retry: retryWithProgress(output),
      solve: (challenge, ciphertext, { signal }) =>
        solveWork(challenge, ciphertext, { signal, onProgress: progress.show }),
    }).finally(progress.clear)
    const managementLink = formatLink(api.base, filled.management)
    const { expiresAt } = filled
    output.result(
      process.stdout.isTTY
        ? `Sent. Only the requester can open it (once, until ${formatUntil(expiresAt)}).
Management link, for you, to burn it or to get its receipt:
  ${managementLink}
`
        : `${managementLink}\n`,
      { managementLink, fingerprint: print, expiresAt },
    )
  },
}

export const commands: readonly Command[] = [fillCommand]
