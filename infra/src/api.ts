/** HTTP APIs that route the requests of a host name to functions. */
import { Fn, type Stack } from 'aws-cdk-lib'
import { CfnApi, CfnIntegration, CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnPermission } from 'aws-cdk-lib/aws-lambda'
import { createCertificate, createDomain } from './domain.ts'
import { type DeployedFunction, pascalCase } from './functions.ts'
import type { StackOptions } from './options.ts'

/** API Gateway ends a request after this time, whatever the function does. */
const TIMEOUT_MS = 30_000

export interface Apis {
  main: CfnApi
  sealed?: CfnApi
}

export function createApis(
  stack: Stack,
  functions: readonly DeployedFunction[],
  options: StackOptions,
): Apis {
  const { domain, sealedDomain, hostedZoneId, prefix } = options
  const certificateArn = createCertificate(stack, options)
  const create = (id: string, name: string, routes: readonly Route[]) => {
    const api = new CfnApi(stack, id, {
      name: `${prefix}strongroom ${name}`,
      protocolType: 'HTTP',
      // Only the host name of the deployment reaches it.
      disableExecuteApiEndpoint: true,
    })
    createRoutes(stack, id, api, routes)
    const stage = createStage(stack, `${id}Stage`, api, routes, options)
    createDomain(stack, { id, name, certificateArn, api, stage, hostedZoneId })
    return api
  }
  const main = create('Api', domain, routesOf(functions))
  if (sealedDomain === undefined) return { main }
  return { main, sealed: create('SealedApi', sealedDomain, originRoutes(functions)) }
}

interface Route {
  key: string
  to: DeployedFunction
}

function routesOf(functions: readonly DeployedFunction[]): Route[] {
  return functions.flatMap((to) =>
    to.declared.triggers.flatMap((trigger) =>
      trigger.kind === 'http' ? trigger.routes.map((key) => ({ key, to })) : [],
    ),
  )
}

/** The function with a host name of its own handles every request there. */
function originRoutes(functions: readonly DeployedFunction[]): Route[] {
  return functions
    .filter(({ declared }) =>
      declared.triggers.some(
        (trigger) => trigger.kind === 'http' && trigger.originSetting === 'SEALED_ORIGIN',
      ),
    )
    .map((to) => ({ key: '$default', to }))
}

function createRoutes(stack: Stack, id: string, api: CfnApi, routes: readonly Route[]): void {
  const integrations = new Map<DeployedFunction, CfnIntegration>()
  for (const { key, to } of routes) {
    const integration = integrations.get(to) ?? createIntegration(stack, id, api, to)
    integrations.set(to, integration)
    new CfnRoute(stack, `${id}Route${routeId(key)}`, {
      apiId: api.ref,
      routeKey: key,
      target: `integrations/${integration.ref}`,
    })
  }
}

function createIntegration(stack: Stack, id: string, api: CfnApi, to: DeployedFunction) {
  new CfnPermission(stack, `${to.id}${id}Permission`, {
    action: 'lambda:InvokeFunction',
    functionName: to.resource.ref,
    principal: 'apigateway.amazonaws.com',
    sourceArn: Fn.sub(
      `arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${${id}}/*`,
    ),
  })
  return new CfnIntegration(stack, `${to.id}${id}Integration`, {
    apiId: api.ref,
    integrationType: 'AWS_PROXY',
    integrationUri: to.resource.attrArn,
    payloadFormatVersion: '2.0',
    timeoutInMillis: TIMEOUT_MS,
  })
}

/** Limits that functions keep in memory hold for one instance each; these hold for all together. */
function createStage(
  stack: Stack,
  id: string,
  api: CfnApi,
  routes: readonly Route[],
  { requestsPerSecond }: StackOptions,
): CfnStage {
  const stage = new CfnStage(stack, id, {
    apiId: api.ref,
    stageName: '$default',
    autoDeploy: true,
    defaultRouteSettings: {
      throttlingRateLimit: requestsPerSecond,
      throttlingBurstLimit: requestsPerSecond * 2,
      detailedMetricsEnabled: false,
    },
  })
  // Settings of a route replace the default, so a flood on the API does not hold up webhooks.
  const ingest = routes.filter(({ to }) => to.declared.name === 'ferryhook-ingest')
  if (ingest.length > 0) {
    const limits = {
      ThrottlingRateLimit: requestsPerSecond,
      ThrottlingBurstLimit: requestsPerSecond * 2,
    }
    stage.routeSettings = Object.fromEntries(ingest.map(({ key }) => [key, limits]))
    for (const { key } of ingest) stage.addResourceDependency(routeOf(stack, key))
  }
  return stage
}

function routeOf(stack: Stack, key: string): CfnRoute {
  return stack.node.findChild(`ApiRoute${routeId(key)}`) as CfnRoute
}

/** `GET /v1/{name}` becomes `GetV1Name`. */
function routeId(key: string): string {
  if (key === '$default') return 'Default'
  const [method = '', path = ''] = key.split(' ')
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].map(pascalCase).join('')
}
