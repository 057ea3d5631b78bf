import { expect, test } from 'vitest'
import { createLastTokens } from '../../src/bolt/last-tokens.ts'
import type { Installation } from '../../src/existence/verdict.ts'
import { refused, scene } from '../existence/scene.ts'

function afterAnOrganisationHasLeft() {
  const { clock, machine, slack } = scene([{ id: 'T9', token: 'xoxb-org', enterprise: 'E9' }])
  const lastTokens = createLastTokens()
  lastTokens.remember({ team: 'T9', enterprise: 'E9' }, 'xoxb-org', { isOrgWide: true })
  const checker = lastTokens.guarding(machine({ tokenOf: lastTokens.tokenOf }))
  slack.break({ kind: 'error', error: 'account_inactive', method: 'auth.test' })
  return async (installation: Installation) =>
    checker.checkUninstalled(installation, { deadline: clock.now() + 2000 })
}

test('an organisation whose token is dead does not vouch that a team of its choice is gone', async () => {
  const check = afterAnOrganisationHasLeft()
  expect(await check({ team: 'T1', enterprise: 'E9' })).toEqual(refused('no_token'))
})

test('an organisation whose token is dead is gone, whichever of its workspaces says so', async () => {
  const check = afterAnOrganisationHasLeft()
  const installation = { enterprise: 'E9', isOrgWide: true } as const
  for (const team of ['T9', 'T8', 'E9']) {
    expect(await check({ team, ...installation })).toEqual({ ok: true, source: 'slack' })
  }
})
