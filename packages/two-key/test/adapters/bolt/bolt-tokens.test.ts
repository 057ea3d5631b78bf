import { expect, test } from 'vitest'
import { createBoltTokens } from '../../../src/adapters/bolt-tokens.ts'
import type { Installation } from '../../../src/slack-ids.ts'
import { refused, createTestCheckers } from '../../support/test-checkers.ts'

function afterAnOrganisationHasLeft() {
  const { clock, machine, slack } = createTestCheckers([
    { id: 'T9', token: 'xoxb-org', enterprise: 'E9' },
  ])
  const lastTokens = createBoltTokens()
  lastTokens.remember({ team: 'T9', enterprise: 'E9' }, 'xoxb-org', { isOrgWide: true })
  const checker = lastTokens.withUninstallCheck(machine({ tokenOf: lastTokens.tokenOf }))
  slack.break({ kind: 'error', error: 'account_inactive', method: 'auth.test' })
  return async (installation: Installation) =>
    checker.checkUninstalled(installation, { deadline: clock.now() + 2000 })
}

test('an organisation with a revoked token does not confirm the uninstall of another team', async () => {
  const check = afterAnOrganisationHasLeft()
  expect(await check({ team: 'T1', enterprise: 'E9' })).toEqual(refused('no_token'))
})

test('the uninstall of an organisation with a revoked token is accepted from any of its workspaces', async () => {
  const check = afterAnOrganisationHasLeft()
  const installation = { enterprise: 'E9', isOrgWide: true } as const
  for (const team of ['T9', 'T8', 'E9']) {
    expect(await check({ team, ...installation })).toEqual({ ok: true, source: 'slack' })
  }
})
