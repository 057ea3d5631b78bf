/** `strongroom receipt`: whether a secret was opened. */
import type { ReceiptAnswer } from '@strongroom/sealed/api'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { patiently } from '@strongroom/sealed/client/patience'
import type { Command } from '../command.ts'
import { connect, connectionOptions, exitCodes, patienceSaying } from '../sealed/connection.ts'
import { managementLink } from '../sealed/link-argument.ts'

export class NoReceipt extends Error {
  override readonly name = 'NoReceipt'
  readonly code = 'no_receipt'

  constructor() {
    super('There is no receipt: the secret was sealed without --receipt, or its time is over')
  }
}

export const receiptCommand: Command = {
  name: 'receipt',
  args: '[MANAGEMENT-LINK]',
  summary: 'Tell whether a secret that was sealed with --receipt was opened',
  secretArgs: true,
  options: connectionOptions,
  about: `Without a link, or with "-", reads it from standard input.

${exitCodes}`,
  async run(input) {
    const { base, id, burnToken } = await managementLink(input.args[0] ?? '-')
    const api = connect(base, input)
    const receipt = await patiently(patienceSaying(input.output), () =>
      api.receipt(id, burnToken),
    ).catch(noReceipt)
    input.output.result(`${sentence(receipt)}\n`, receipt)
  },
}

/** A secret may well be there: whoever asks for its receipt must not take it for lost. */
function noReceipt(error: unknown): never {
  if (!(error instanceof RequestFailed) || error.code !== 'not_available') throw error
  throw new NoReceipt()
}

function sentence({ state, viewedAt }: ReceiptAnswer): string {
  switch (state) {
    case 'pending':
      return 'pending: nobody has opened it yet'
    case 'viewed':
      return `viewed: last opened at ${new Date((viewedAt ?? 0) * 1000).toISOString()}`
    case 'gone':
      return 'gone: it has ended without having been opened'
  }
}
