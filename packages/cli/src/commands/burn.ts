/** `strongroom burn`: destroys a secret. */
import { retryWhenRateLimited } from '@strongroom/sealed/client/retry'
import type { Command } from '../command.ts'
import { connect, connectionOptions, exitCodes, retryWithProgress } from '../sealed/connection.ts'
import { managementLink } from '../sealed/input.ts'

const burnCommand: Command = {
  name: 'burn',
  kind: 'client',
  args: '[MANAGEMENT-LINK]',
  summary: 'Destroy a secret, using its management link',
  secretArgs: true,
  options: connectionOptions,
  about: `Without a link, or with "-", reads it from standard input. The server never reveals
whether there was still a secret to destroy.

${exitCodes}`,
  async run(input) {
    const { base, id, burnToken } = await managementLink(input.args[0] ?? '-')
    const api = connect(base, input)
    await retryWhenRateLimited(retryWithProgress(input.output), () => api.burn(id, burnToken))
    input.output.result('If the secret still existed, it was destroyed\n', { burned: true })
  },
}

export const commands: readonly Command[] = [burnCommand]
