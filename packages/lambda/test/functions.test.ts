/** The bundles of all functions, run as Lambda runs them, on DynamoDB Local and our KMS. */
import { createTables } from '@strongroom/kit/tables'
import { everyTable } from '@strongroom/server/data-model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Deployment, openDeployment } from './support/deployment.ts'

let deployment: Deployment

beforeAll(async () => {
  deployment = await openDeployment({ env: {} })
  await createTables(deployment.db, everyTable)
}, 300_000)

afterAll(async () => {
  await deployment.close()
})

describe('the functions', () => {
  test('serve the home page', async () => {
    const response = await deployment.fetch(new Request('https://strongroom.example/'))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Strongroom')
    console.log(deployment.coldStarts(), deployment.calls())
  })
})
