import { cloudFormation } from '@strongroom/kit/cloudformation'
import { cursorError } from '@strongroom/kit/cursor'
import { jobError } from '@strongroom/kit/jobs/kind'
import type { ErrorEntry } from '@strongroom/kit/errors'
import { requestError, serverError } from '@strongroom/kit/http/errors'
import { operatorError } from '@strongroom/kit/operators'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import { secretError } from '@strongroom/kit/secret-versions'
import { describe, expect, test } from 'vitest'
import { dataModels, everyTable } from '../src/data-model.ts'
import { services } from '../src/services.ts'
import { settings } from '../src/settings.ts'
import { dataModelPage } from './generated-data-model.ts'

// `npm run docs` writes these pages; here they are only compared.
const page = (name: string) => `../../../docs/${name}`

describe('the generated pages', () => {
  test('docs/configuration.md lists every setting', async () => {
    const text = `# Configuration

Settings are environment variables. \`strongroom config\` shows them with their current values. An unknown variable that starts with \`STRONGROOM_\` stops the start, because it is most likely a typo.

${settings.toMarkdown()}`
    await expect(text).toMatchFileSnapshot(page('configuration.md'))
  })

  test('docs/errors.md lists every error code', async () => {
    const general = [
      requestError,
      cursorError,
      serverError,
      operatorError,
      secretError,
      secondFactorError,
      jobError,
    ]
    const catalogues = [...general, ...services.map(({ errors }) => errors)]
    const rows = catalogues
      .flatMap(({ catalogue }) => catalogue)
      .toSorted((a, b) => (a.code < b.code ? -1 : 1))
      .map(({ code, status, message }: ErrorEntry) => `| \`${code}\` | ${status} | ${message} |\n`)
    const text = `# Errors

Every error is \`{ "error": { "code", "message", "details"?, "data"? } }\`. Branch on \`code\`; messages are for people and may change. \`details\` names the invalid fields of the request.

| Code | Status | Message |
| --- | --- | --- |
${rows.join('')}`
    await expect(text).toMatchFileSnapshot(page('errors.md'))
  })

  test('docs/data-model.md describes every table', async () => {
    await expect(dataModelPage(dataModels)).toMatchFileSnapshot(page('data-model.md'))
  })

  test('infra/tables.json is the CloudFormation template of all tables', async () => {
    const template = cloudFormation({ tables: everyTable })
    const text = `${JSON.stringify(template, null, 2)}\n`
    await expect(text).toMatchFileSnapshot('../../../infra/tables.json')
    // More than that needs a bucket to deploy it from.
    expect(Buffer.byteLength(text)).toBeLessThan(51_200)
  })
})
