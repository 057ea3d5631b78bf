/** Values of attributes of sources. Without schemas, because commands list them in their help. */
export const providers = [
  'stripe',
  'github',
  'shopify',
  'custom',
  'slack',
  'twilio',
  'sendgrid',
  'square',
  'paypal',
  'gitlab',
  'linear',
  'standard-webhooks',
  'paddle',
  'discord',
  'zendesk',
] as const

/** Methods that a source may accept events by; GET is for handshakes. */
export const eventMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
