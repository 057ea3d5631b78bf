/** Host names of the HTTP APIs: certificate, API Gateway domain, DNS record. */
import { CfnOutput, type Stack } from 'aws-cdk-lib'
import {
  type CfnApi,
  CfnApiMapping,
  CfnDomainName,
  type CfnStage,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnCertificate } from 'aws-cdk-lib/aws-certificatemanager'
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53'
import type { StackOptions } from './options.ts'

/** One certificate for all host names, given or requested. */
export function createCertificate(stack: Stack, options: StackOptions): string {
  const { domain, sealedDomain, hostedZoneId, certificateArn } = options
  if (certificateArn !== undefined) return certificateArn
  const names = sealedDomain === undefined ? [domain] : [domain, sealedDomain]
  return new CfnCertificate(stack, 'Certificate', {
    domainName: domain,
    ...(sealedDomain !== undefined && { subjectAlternativeNames: [sealedDomain] }),
    validationMethod: 'DNS',
    // Without a zone, the deployment waits until the records that ACM shows exist.
    ...(hostedZoneId !== undefined && {
      domainValidationOptions: names.map((domainName) => ({ domainName, hostedZoneId })),
    }),
  }).ref
}

export interface DomainParts {
  /** Of logical ids: `Api`, `SealedApi`. */
  id: string
  name: string
  certificateArn: string
  api: CfnApi
  stage: CfnStage
  hostedZoneId: string | undefined
}

export function createDomain(stack: Stack, parts: DomainParts): void {
  const { id, name, certificateArn, api, stage, hostedZoneId } = parts
  const domain = new CfnDomainName(stack, `${id}Domain`, {
    domainName: name,
    domainNameConfigurations: [
      { certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' },
    ],
  })
  new CfnApiMapping(stack, `${id}Mapping`, {
    apiId: api.ref,
    domainName: domain.ref,
    stage: stage.ref,
  })
  if (hostedZoneId !== undefined) {
    new CfnRecordSet(stack, `${id}Record`, {
      hostedZoneId,
      name,
      type: 'A',
      aliasTarget: {
        dnsName: domain.attrRegionalDomainName,
        hostedZoneId: domain.attrRegionalHostedZoneId,
      },
    })
  }
  new CfnOutput(stack, `${id}DomainTarget`, {
    description: `Create a CNAME record of ${name} with this value, unless the stack created it`,
    value: domain.attrRegionalDomainName,
  })
}
