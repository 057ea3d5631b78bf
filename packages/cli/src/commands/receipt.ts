/** `strongroom receipt`: shows how often a secret was opened. */
import type { ReceiptResponse } from '@strongroom/sealed/api'
import { Failure } from '@strongroom/kit/errors'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { retryWhenRateLimited } from '@strongroom/sealed/client/retry'
import type { Command } from '../command.ts'
import { connect, connectionOptions, exitCodes, retryWithProgress } from '../sealed/connection.ts'
import { managementLink } from '../sealed/input.ts'

const receiptCommand: Command = {
  name: 'receipt',
  kind: 'client',
  args: '[MANAGEMENT-LINK]',
  summary: 'Show how often a secret sealed with --receipt was opened, and when last',
  secretArgs: true,
  options: connectionOptions,
  about: `Without a link, or with "-", reads it from standard input.

${exitCodes}`,
  async run(input) {
    const { base, id, burnToken } = await managementLink(input.args[0] ?? '-')
    const api = connect(base, input)
    const receipt = await retryWhenRateLimited(retryWithProgress(input.output), () =>
      api.receipt(id, burnToken),
    ).catch(noReceipt)
    input.output.result(`${sentence(receipt)}\n`, receipt)
  },
}

/** The secret may still exist, so "not available" would be misleading. */
function noReceipt(error: unknown): never {
  if (!(error instanceof RequestFailed) || error.code !== 'not_available') throw error
  throw new Failure(
    'no_receipt',
    'No receipt: the secret was sealed without --receipt, or its receipt has expired',
  )
}

function sentence({ state, viewedAt, views, maxViews }: ReceiptResponse): string {
  const count =
    views === undefined || maxViews === undefined ? '' : `${views} of ${maxViews} views, `
  switch (state) {
    case 'pending':
      return 'pending: not opened yet'
    case 'viewed':
      return `viewed: ${count}last opened at ${new Date((viewedAt ?? 0) * 1000).toISOString()}`
    case 'gone':
      return 'gone: it ended without being opened'
  }
}

export const commands: readonly Command[] = [receiptCommand]
