import { openApiDocument } from '@strongroom/kit/http/openapi'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { sealedError } from '../../src/errors.ts'
import { openDb, startApp } from '../support/sealed-app.ts'

describe.each(serviceStores())('the OpenAPI document', (store) => {
  const opened = openDb(store)

  test('has every route of Sealed, with its body and its errors', async () => {
    const { app } = await startApp(opened.db)
    const { paths } = openApiDocument(app, { title: 'Strongroom', version: '1' })
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { responses: object }>).map(
        ([method, { responses }]) => `${method} ${path} ${Object.keys(responses).join(' ')}`,
      ),
    )
    expect(routes.toSorted()).toEqual([
      'delete /sealed/v1/api-tokens/{name} 204 401 403 404 default',
      'delete /sealed/v1/secrets/{id} 204 429 default',
      'get /sealed/v1/api-tokens 200 401 403 default',
      'get /sealed/v1/figures 200 401 403 default',
      'post /sealed/v1/api-tokens 201 400 401 403 409 default',
      'post /sealed/v1/requests 200 400 401 429 default',
      'post /sealed/v1/requests/{id} 201 400 403 404 413 429 507 default',
      'post /sealed/v1/secrets 201 400 401 403 413 507 default',
      'post /sealed/v1/secrets/{id}/ack 204 429 default',
      'post /sealed/v1/secrets/{id}/reveal 200 403 404 429 default',
      'post /sealed/v1/secrets/{id}/status 200 404 429 default',
      'post /sealed/v1/token 200 401 429 default',
    ])
    expect(paths['/sealed/v1/secrets']?.post).toMatchObject({
      tags: ['Sealed'],
      requestBody: {
        content: {
          'application/json': {
            schema: { required: expect.arrayContaining(['ciphertext', 'pow']) },
          },
        },
      },
    })
  })

  test('names every error of Sealed', async () => {
    const { app } = await startApp(opened.db)
    const document = JSON.stringify(openApiDocument(app, { title: 'Strongroom', version: '1' }))
    for (const { code } of sealedError.catalogue) expect(document).toContain(code)
  })
})
