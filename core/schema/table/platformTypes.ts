/** Types of the remaining groups, by package; the form is explained in README.md. */
export const PLATFORM_TYPES = {
  'admission.v1': `
AdmissionRequest
 uid 1 string !
 kind 2 meta.v1.GroupVersionKind !
 resource 3 meta.v1.GroupVersionResource !
 subResource 4 string ?
 requestKind 13 meta.v1.GroupVersionKind *?
 requestResource 14 meta.v1.GroupVersionResource *?
 requestSubResource 15 string ?
 name 5 string ?
 namespace 6 string ?
 operation 7 string !
 userInfo 8 authentication.v1.UserInfo !
 object 9 RawExtension ?
 oldObject 10 RawExtension ?
 dryRun 11 bool *?
 options 12 RawExtension ?
AdmissionResponse
 uid 1 string !
 allowed 2 bool !
 status 3 meta.v1.Status *?
 patch 4 bytes ?
 patchType 5 string *?
 auditAnnotations 6 {}string ?
 warnings 7 []string ?
AdmissionReview kind
 request 1 .AdmissionRequest *?
 response 2 .AdmissionResponse *?
`,
  'admissionregistration.v1': `
AuditAnnotation
 key 1 string !
 valueExpression 2 string !
ExpressionWarning
 fieldRef 2 string !
 warning 3 string !
MatchCondition
 name 1 string !
 expression 2 string !
MatchResources atomic
 namespaceSelector 1 meta.v1.LabelSelector *?
 objectSelector 2 meta.v1.LabelSelector *?
 resourceRules 3 [].NamedRuleWithOperations ? list=atomic
 excludeResourceRules 4 [].NamedRuleWithOperations ? list=atomic
 matchPolicy 7 string *? enum=.MatchPolicyType
MutatingWebhook
 name 1 string !
 clientConfig 2 .WebhookClientConfig !
 rules 3 [].RuleWithOperations ? list=atomic
 failurePolicy 4 string *? enum=.FailurePolicyType
 matchPolicy 9 string *? enum=.MatchPolicyType
 namespaceSelector 5 meta.v1.LabelSelector *?
 objectSelector 11 meta.v1.LabelSelector *?
 sideEffects 6 string *! enum=.SideEffectClass
 timeoutSeconds 7 int32 *?
 admissionReviewVersions 8 []string ! list=atomic
 reinvocationPolicy 10 string *? enum=.ReinvocationPolicyType
 matchConditions 12 [].MatchCondition ? list=map:name patch=merge by=name
MutatingWebhookConfiguration kind list
 metadata 1 meta.v1.ObjectMeta ?
 webhooks 2 [].MutatingWebhook ? list=map:name patch=merge by=name pb=Webhooks
NamedRuleWithOperations atomic
 resourceNames 1 []string ? list=atomic
 + 2 .RuleWithOperations pb=ruleWithOperations
ParamKind atomic
 apiVersion 1 string ?
 kind 2 string ?
ParamRef atomic
 name 1 string ?
 namespace 2 string ?
 selector 3 meta.v1.LabelSelector *?
 parameterNotFoundAction 4 string *?
Rule
 apiGroups 1 []string ? list=atomic
 apiVersions 2 []string ? list=atomic
 resources 3 []string ? list=atomic
 scope 4 string *?
RuleWithOperations
 operations 1 []string ? list=atomic enum=.OperationType
 + 2 .Rule pb=rule
ServiceReference
 namespace 1 string !
 name 2 string !
 path 3 string *?
 port 4 int32 *?
TypeChecking
 expressionWarnings 1 [].ExpressionWarning ? list=atomic
ValidatingAdmissionPolicy kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ValidatingAdmissionPolicySpec ?
 status 3 .ValidatingAdmissionPolicyStatus ?
ValidatingAdmissionPolicyBinding kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ValidatingAdmissionPolicyBindingSpec ?
ValidatingAdmissionPolicyBindingSpec
 policyName 1 string ?
 paramRef 2 .ParamRef *?
 matchResources 3 .MatchResources *?
 validationActions 4 []string ? list=set enum=.ValidationAction
ValidatingAdmissionPolicySpec
 paramKind 1 .ParamKind *?
 matchConstraints 2 .MatchResources *?
 validations 3 [].Validation ? list=atomic
 failurePolicy 4 string *? enum=.FailurePolicyType
 auditAnnotations 5 [].AuditAnnotation ? list=atomic
 matchConditions 6 [].MatchCondition ? list=map:name patch=merge by=name
 variables 7 [].Variable ? list=map:name patch=merge by=name
ValidatingAdmissionPolicyStatus
 observedGeneration 1 int64 ?
 typeChecking 2 .TypeChecking *?
 conditions 3 []meta.v1.Condition ? list=map:type
ValidatingWebhook
 name 1 string !
 clientConfig 2 .WebhookClientConfig !
 rules 3 [].RuleWithOperations ? list=atomic
 failurePolicy 4 string *? enum=.FailurePolicyType
 matchPolicy 9 string *? enum=.MatchPolicyType
 namespaceSelector 5 meta.v1.LabelSelector *?
 objectSelector 10 meta.v1.LabelSelector *?
 sideEffects 6 string *! enum=.SideEffectClass
 timeoutSeconds 7 int32 *?
 admissionReviewVersions 8 []string ! list=atomic
 matchConditions 11 [].MatchCondition ? list=map:name patch=merge by=name
ValidatingWebhookConfiguration kind list
 metadata 1 meta.v1.ObjectMeta ?
 webhooks 2 [].ValidatingWebhook ? list=map:name patch=merge by=name pb=Webhooks
Validation
 expression 1 string ! pb=Expression
 message 2 string ?
 reason 3 string *?
 messageExpression 4 string ?
Variable atomic
 name 1 string ! pb=Name
 expression 2 string ! pb=Expression
WebhookClientConfig
 url 3 string *?
 service 1 .ServiceReference *?
 caBundle 2 bytes ?
`,
  'admissionregistration.v1alpha1': `
as admissionregistration.v1 AuditAnnotation ExpressionWarning MatchCondition MatchResources ParamKind TypeChecking ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec ValidatingAdmissionPolicySpec ValidatingAdmissionPolicyStatus Validation
ApplyConfiguration
 expression 1 string ?
JSONPatch
 expression 1 string ?
MutatingAdmissionPolicy kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .MutatingAdmissionPolicySpec ?
MutatingAdmissionPolicyBinding kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .MutatingAdmissionPolicyBindingSpec ?
MutatingAdmissionPolicyBindingSpec
 policyName 1 string ?
 paramRef 2 .ParamRef *?
 matchResources 3 .MatchResources *?
MutatingAdmissionPolicySpec
 paramKind 1 .ParamKind *?
 matchConstraints 2 .MatchResources *?
 variables 3 [].Variable ? list=atomic
 mutations 4 [].Mutation ? list=atomic
 failurePolicy 5 string *? enum=.FailurePolicyType
 matchConditions 6 [].MatchCondition ? list=map:name patch=merge by=name
 reinvocationPolicy 7 string ? enum=admissionregistration.v1.ReinvocationPolicyType
Mutation
 patchType 2 string ! enum=.PatchType
 applyConfiguration 3 .ApplyConfiguration *?
 jsonPatch 4 .JSONPatch *?
NamedRuleWithOperations atomic
 resourceNames 1 []string ? list=atomic
 + 2 admissionregistration.v1.RuleWithOperations pb=ruleWithOperations
ParamRef atomic
 name 1 string ?
 namespace 2 string ?
 selector 3 meta.v1.LabelSelector *?
 parameterNotFoundAction 4 string *? enum=.ParameterNotFoundActionType
Variable
 name 1 string ! pb=Name
 expression 2 string ! pb=Expression
`,
  'admissionregistration.v1beta1': `
as admissionregistration.v1 AuditAnnotation ExpressionWarning MatchCondition ParamKind ParamRef TypeChecking ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec ValidatingAdmissionPolicyStatus Validation Variable
MatchResources atomic
 namespaceSelector 1 meta.v1.LabelSelector *?
 objectSelector 2 meta.v1.LabelSelector *?
 resourceRules 3 [].NamedRuleWithOperations ? list=atomic
 excludeResourceRules 4 [].NamedRuleWithOperations ? list=atomic
 matchPolicy 7 string *?
NamedRuleWithOperations atomic
 resourceNames 1 []string ? list=atomic
 + 2 admissionregistration.v1.RuleWithOperations pb=ruleWithOperations
ValidatingAdmissionPolicySpec
 paramKind 1 .ParamKind *?
 matchConstraints 2 .MatchResources *?
 validations 3 [].Validation ? list=atomic
 failurePolicy 4 string *?
 auditAnnotations 5 [].AuditAnnotation ? list=atomic
 matchConditions 6 [].MatchCondition ? list=map:name patch=merge by=name
 variables 7 [].Variable ? list=map:name patch=merge by=name
`,
  'apidiscovery.v2': `
APIGroupDiscovery kind list
 metadata 1 meta.v1.ObjectMeta ?
 versions 2 [].APIVersionDiscovery ? list=map:version
APIResourceDiscovery
 resource 1 string !
 responseKind 2 meta.v1.GroupVersionKind *?
 scope 3 string !
 singularResource 4 string !
 verbs 5 []string ! list=set
 shortNames 6 []string ? list=set
 categories 7 []string ? list=set
 subresources 8 [].APISubresourceDiscovery ? list=map:subresource
APISubresourceDiscovery
 subresource 1 string !
 responseKind 2 meta.v1.GroupVersionKind *?
 acceptedTypes 3 []meta.v1.GroupVersionKind ? list=map:group,version,kind
 verbs 4 []string ! list=set
APIVersionDiscovery
 version 1 string !
 resources 2 [].APIResourceDiscovery ? list=map:resource
 freshness 3 string ?
`,
  'apidiscovery.v2beta1': `
as apidiscovery.v2 APIGroupDiscovery APIResourceDiscovery APISubresourceDiscovery APIVersionDiscovery
`,
  'apiextensions.v1': `
ConversionRequest
 uid 1 string !
 desiredAPIVersion 2 string !
 objects 3 []RawExtension ! list=atomic
ConversionResponse
 uid 1 string !
 convertedObjects 2 []RawExtension ! list=atomic
 result 3 meta.v1.Status !
ConversionReview kind
 request 1 .ConversionRequest *?
 response 2 .ConversionResponse *?
CustomResourceColumnDefinition
 name 1 string !
 type 2 string !
 format 3 string ?
 description 4 string ?
 priority 5 int32 ?
 jsonPath 6 string !
CustomResourceConversion
 strategy 1 string !
 webhook 2 .WebhookConversion *?
CustomResourceDefinition kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .CustomResourceDefinitionSpec !
 status 3 .CustomResourceDefinitionStatus ?
CustomResourceDefinitionCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
CustomResourceDefinitionNames
 plural 1 string !
 singular 2 string ?
 shortNames 3 []string ? list=atomic
 kind 4 string !
 listKind 5 string ?
 categories 6 []string ? list=atomic
CustomResourceDefinitionSpec
 group 1 string !
 names 3 .CustomResourceDefinitionNames !
 scope 4 string !
 versions 7 [].CustomResourceDefinitionVersion ! list=atomic
 conversion 9 .CustomResourceConversion *?
 preserveUnknownFields 10 bool ?
CustomResourceDefinitionStatus
 conditions 1 [].CustomResourceDefinitionCondition list=map:type
 acceptedNames 2 .CustomResourceDefinitionNames
 storedVersions 3 []string list=atomic
CustomResourceDefinitionVersion
 name 1 string !
 served 2 bool !
 storage 3 bool !
 deprecated 7 bool ?
 deprecationWarning 8 string *?
 schema 4 .CustomResourceValidation *?
 subresources 5 .CustomResourceSubresources *?
 additionalPrinterColumns 6 [].CustomResourceColumnDefinition ? list=atomic
 selectableFields 9 [].SelectableField ? list=atomic gate=CustomResourceFieldSelectors
CustomResourceSubresourceScale
 specReplicasPath 1 string !
 statusReplicasPath 2 string !
 labelSelectorPath 3 string *?
CustomResourceSubresourceStatus
CustomResourceSubresources
 status 1 .CustomResourceSubresourceStatus *?
 scale 2 .CustomResourceSubresourceScale *?
CustomResourceValidation
 openAPIV3Schema 1 .JSONSchemaProps *?
ExternalDocumentation
 description 1 string ?
 url 2 string ?
JSONSchemaProps
 id 1 string ?
 $schema 2 string ? pb=schema
 $ref 3 string *? pb=ref
 description 4 string ?
 type 5 string ?
 format 6 string ?
 title 7 string ?
 default 8 JSON *?
 maximum 9 double *?
 exclusiveMaximum 10 bool ?
 minimum 11 double *?
 exclusiveMinimum 12 bool ?
 maxLength 13 int64 *?
 minLength 14 int64 *?
 pattern 15 string ?
 maxItems 16 int64 *?
 minItems 17 int64 *?
 uniqueItems 18 bool ?
 multipleOf 19 double *?
 enum 20 []JSON ? list=atomic
 maxProperties 21 int64 *?
 minProperties 22 int64 *?
 required 23 []string ? list=atomic
 items 24 .JSONSchemaPropsOrArray *? bare
 allOf 25 [].JSONSchemaProps ? list=atomic
 oneOf 26 [].JSONSchemaProps ? list=atomic
 anyOf 27 [].JSONSchemaProps ? list=atomic
 not 28 .JSONSchemaProps *? bare
 properties 29 {}.JSONSchemaProps ?
 additionalProperties 30 .JSONSchemaPropsOrBool *? bare
 patternProperties 31 {}.JSONSchemaProps ?
 dependencies 32 {}.JSONSchemaPropsOrStringArray ?
 additionalItems 33 .JSONSchemaPropsOrBool *? bare
 definitions 34 {}.JSONSchemaProps ?
 externalDocs 35 .ExternalDocumentation *? bare
 example 36 JSON *? bare
 nullable 37 bool ?
 x-kubernetes-preserve-unknown-fields 38 bool *? pb=xKubernetesPreserveUnknownFields
 x-kubernetes-embedded-resource 39 bool ? pb=xKubernetesEmbeddedResource
 x-kubernetes-int-or-string 40 bool ? pb=xKubernetesIntOrString
 x-kubernetes-list-map-keys 41 []string ? list=atomic pb=xKubernetesListMapKeys
 x-kubernetes-list-type 42 string *? pb=xKubernetesListType
 x-kubernetes-map-type 43 string *? pb=xKubernetesMapType
 x-kubernetes-validations 44 [].ValidationRule ? list=map:rule patch=merge by=rule pb=xKubernetesValidations
JSONSchemaPropsOrArray custom
 Schema 1 .JSONSchemaProps * pb=schema
 JSONSchemas 2 [].JSONSchemaProps list=atomic pb=jSONSchemas
JSONSchemaPropsOrBool custom
 Allows 1 bool pb=allows
 Schema 2 .JSONSchemaProps * pb=schema
JSONSchemaPropsOrStringArray custom
 Schema 1 .JSONSchemaProps * pb=schema
 Property 2 []string list=atomic pb=property
SelectableField
 jsonPath 1 string !
ServiceReference
 namespace 1 string !
 name 2 string !
 path 3 string *?
 port 4 int32 *?
ValidationRule
 rule 1 string !
 message 2 string ?
 messageExpression 3 string ?
 reason 4 string *? enum=.FieldValueErrorReason
 fieldPath 5 string ?
 optionalOldSelf 6 bool *? gate=CRDValidationRatcheting
WebhookClientConfig
 url 3 string *?
 service 1 .ServiceReference *?
 caBundle 2 bytes ?
WebhookConversion
 clientConfig 2 .WebhookClientConfig *?
 conversionReviewVersions 3 []string ! list=atomic
`,
  'apiregistration.v1': `
APIService kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .APIServiceSpec ?
 status 3 .APIServiceStatus ?
APIServiceCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
APIServiceSpec
 service 1 .ServiceReference *?
 group 2 string ?
 version 3 string ?
 insecureSkipTLSVerify 4 bool ?
 caBundle 5 bytes ? list=atomic
 groupPriorityMinimum 7 int32 !
 versionPriority 8 int32 !
APIServiceStatus
 conditions 1 [].APIServiceCondition ? list=map:type patch=merge by=type
ServiceReference
 namespace 1 string ?
 name 2 string ?
 port 3 int32 *?
`,
  'apiserverinternal.v1alpha1': `
ServerStorageVersion
 apiServerID 1 string ?
 encodingVersion 2 string ?
 decodableVersions 3 []string ? list=set
 servedVersions 4 []string ? list=set
StorageVersion kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .StorageVersionSpec !
 status 3 .StorageVersionStatus !
StorageVersionCondition
 type 1 string !
 status 2 string !
 observedGeneration 3 int64 ?
 lastTransitionTime 4 Time ?
 reason 5 string !
 message 6 string ?!
StorageVersionSpec
StorageVersionStatus
 storageVersions 1 [].ServerStorageVersion ? list=map:apiServerID
 commonEncodingVersion 2 string *?
 conditions 3 [].StorageVersionCondition ? list=map:type
`,
  'authentication.v1': `
BoundObjectReference
 kind 1 string ?
 apiVersion 2 string ?
 name 3 string ?
 uid 4 string ? pb=uID
ExtraValue wrapper
 items 1 []string
SelfSubjectReview kind
 metadata 1 meta.v1.ObjectMeta ?
 status 2 .SelfSubjectReviewStatus ?
SelfSubjectReviewStatus
 userInfo 1 .UserInfo ?
TokenRequest kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .TokenRequestSpec !
 status 3 .TokenRequestStatus ?
TokenRequestSpec
 audiences 1 []string ! list=atomic
 expirationSeconds 4 int64 *
 boundObjectRef 3 .BoundObjectReference *
TokenRequestStatus
 token 1 string !
 expirationTimestamp 2 Time !
TokenReview kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .TokenReviewSpec !
 status 3 .TokenReviewStatus ?
TokenReviewSpec
 token 1 string ?
 audiences 2 []string ? list=atomic
TokenReviewStatus
 authenticated 1 bool ?
 user 2 .UserInfo ?
 audiences 4 []string ? list=atomic
 error 3 string ?
UserInfo
 username 1 string ?
 uid 2 string ?
 groups 3 []string ? list=atomic
 extra 4 {}.ExtraValue ?
`,
  'authentication.v1beta1': `
as authentication.v1 SelfSubjectReview
SelfSubjectReviewStatus
 userInfo 1 authentication.v1.UserInfo ?
`,
  'authentication.v1alpha1': `
as authentication.v1 SelfSubjectReview
as authentication.v1beta1 SelfSubjectReviewStatus
`,
  'authorization.v1': `
ExtraValue wrapper
 items 1 []string
FieldSelectorAttributes
 rawSelector 1 string ?
 requirements 2 []meta.v1.FieldSelectorRequirement ? list=atomic
LabelSelectorAttributes
 rawSelector 1 string ?
 requirements 2 []meta.v1.LabelSelectorRequirement ? list=atomic
LocalSubjectAccessReview kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .SubjectAccessReviewSpec !
 status 3 .SubjectAccessReviewStatus ?
NonResourceAttributes
 path 1 string ?
 verb 2 string ?
NonResourceRule
 verbs 1 []string ! list=atomic
 nonResourceURLs 2 []string ? list=atomic
ResourceAttributes
 namespace 1 string ?
 verb 2 string ?
 group 3 string ?
 version 4 string ?
 resource 5 string ?
 subresource 6 string ?
 name 7 string ?
 fieldSelector 8 .FieldSelectorAttributes *?
 labelSelector 9 .LabelSelectorAttributes *?
ResourceRule
 verbs 1 []string ! list=atomic
 apiGroups 2 []string ? list=atomic
 resources 3 []string ? list=atomic
 resourceNames 4 []string ? list=atomic
SelfSubjectAccessReview kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .SelfSubjectAccessReviewSpec !
 status 3 .SubjectAccessReviewStatus ?
SelfSubjectAccessReviewSpec
 resourceAttributes 1 .ResourceAttributes *?
 nonResourceAttributes 2 .NonResourceAttributes *?
SelfSubjectRulesReview kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .SelfSubjectRulesReviewSpec !
 status 3 .SubjectRulesReviewStatus ?
SelfSubjectRulesReviewSpec
 namespace 1 string ?
SubjectAccessReview kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .SubjectAccessReviewSpec !
 status 3 .SubjectAccessReviewStatus ?
SubjectAccessReviewSpec
 resourceAttributes 1 .ResourceAttributes *?
 nonResourceAttributes 2 .NonResourceAttributes *?
 user 3 string ?
 groups 4 []string ? list=atomic
 extra 5 {}.ExtraValue ?
 uid 6 string ?
SubjectAccessReviewStatus
 allowed 1 bool !
 denied 4 bool ?
 reason 2 string ?
 evaluationError 3 string ?
SubjectRulesReviewStatus
 resourceRules 1 [].ResourceRule ! list=atomic
 nonResourceRules 2 [].NonResourceRule ! list=atomic
 incomplete 3 bool !
 evaluationError 4 string ?
`,
  'certificates.v1': `
CertificateSigningRequest kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .CertificateSigningRequestSpec !
 status 3 .CertificateSigningRequestStatus ?
CertificateSigningRequestCondition
 type 1 string !
 status 6 string !
 reason 2 string ?
 message 3 string ?
 lastUpdateTime 4 Time ?
 lastTransitionTime 5 Time ?
CertificateSigningRequestSpec
 request 1 bytes ! list=atomic
 signerName 7 string !
 expirationSeconds 8 int32 *?
 usages 5 []string ? list=atomic enum=.KeyUsage
 username 2 string ?
 uid 3 string ?
 groups 4 []string ? list=atomic
 extra 6 {}.ExtraValue ?
CertificateSigningRequestStatus
 conditions 1 [].CertificateSigningRequestCondition ? list=map:type
 certificate 2 bytes ? list=atomic
ExtraValue wrapper
 items 1 []string
`,
  'certificates.v1alpha1': `
ClusterTrustBundle kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ClusterTrustBundleSpec !
ClusterTrustBundleSpec
 signerName 1 string ?
 trustBundle 2 string !
`,
  'events.v1': `
Event kind list
 metadata 1 meta.v1.ObjectMeta
 eventTime 2 MicroTime !
 series 3 .EventSeries *?
 reportingController 4 string ?
 reportingInstance 5 string ?
 action 6 string ?
 reason 7 string ?
 regarding 8 core.v1.ObjectReference ?
 related 9 core.v1.ObjectReference *?
 note 10 string ?
 type 11 string ?
 deprecatedSource 12 core.v1.EventSource ?
 deprecatedFirstTimestamp 13 Time ?
 deprecatedLastTimestamp 14 Time ?
 deprecatedCount 15 int32 ?
EventSeries
 count 1 int32 !
 lastObservedTime 2 MicroTime !
`,
  'flowcontrol.v1': `
ExemptPriorityLevelConfiguration
 nominalConcurrencyShares 1 int32 *?
 lendablePercent 2 int32 *?
FlowDistinguisherMethod
 type 1 string !
FlowSchema kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .FlowSchemaSpec ?
 status 3 .FlowSchemaStatus ?
FlowSchemaCondition
 type 1 string ?
 status 2 string ?
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
FlowSchemaSpec
 priorityLevelConfiguration 1 .PriorityLevelConfigurationReference !
 matchingPrecedence 2 int32
 distinguisherMethod 3 .FlowDistinguisherMethod *?
 rules 4 [].PolicyRulesWithSubjects ? list=atomic
FlowSchemaStatus
 conditions 1 [].FlowSchemaCondition ? list=map:type patch=merge by=type
GroupSubject
 name 1 string !
LimitResponse union=type:queuing:Queuing
 type 1 string !
 queuing 2 .QueuingConfiguration *?
LimitedPriorityLevelConfiguration
 nominalConcurrencyShares 1 int32 *
 limitResponse 2 .LimitResponse ?
 lendablePercent 3 int32 *?
 borrowingLimitPercent 4 int32 *?
NonResourcePolicyRule
 verbs 1 []string ! list=set
 nonResourceURLs 6 []string ! list=set
PolicyRulesWithSubjects
 subjects 1 [].Subject ! list=atomic
 resourceRules 2 [].ResourcePolicyRule ? list=atomic
 nonResourceRules 3 [].NonResourcePolicyRule ? list=atomic
PriorityLevelConfiguration kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PriorityLevelConfigurationSpec ?
 status 3 .PriorityLevelConfigurationStatus ?
PriorityLevelConfigurationCondition
 type 1 string ?
 status 2 string ?
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
PriorityLevelConfigurationReference
 name 1 string !
PriorityLevelConfigurationSpec union=type:limited:Limited,exempt:Exempt
 type 1 string !
 limited 2 .LimitedPriorityLevelConfiguration *?
 exempt 3 .ExemptPriorityLevelConfiguration *?
PriorityLevelConfigurationStatus
 conditions 1 [].PriorityLevelConfigurationCondition ? list=map:type patch=merge by=type
QueuingConfiguration
 queues 1 int32
 handSize 2 int32
 queueLengthLimit 3 int32
ResourcePolicyRule
 verbs 1 []string ! list=set
 apiGroups 2 []string ! list=set
 resources 3 []string ! list=set
 clusterScope 4 bool ?
 namespaces 5 []string list=set
ServiceAccountSubject
 namespace 1 string !
 name 2 string !
Subject union=kind:user:User,group:Group,serviceAccount:ServiceAccount
 kind 1 string !
 user 2 .UserSubject *?
 group 3 .GroupSubject *?
 serviceAccount 4 .ServiceAccountSubject *?
UserSubject
 name 1 string !
`,
  'flowcontrol.v1beta3': `
as flowcontrol.v1 ExemptPriorityLevelConfiguration FlowDistinguisherMethod FlowSchema FlowSchemaCondition FlowSchemaSpec FlowSchemaStatus GroupSubject LimitResponse NonResourcePolicyRule PolicyRulesWithSubjects PriorityLevelConfiguration PriorityLevelConfigurationCondition PriorityLevelConfigurationReference PriorityLevelConfigurationSpec PriorityLevelConfigurationStatus QueuingConfiguration ResourcePolicyRule ServiceAccountSubject Subject UserSubject
LimitedPriorityLevelConfiguration
 nominalConcurrencyShares 1 int32
 limitResponse 2 .LimitResponse ?
 lendablePercent 3 int32 *?
 borrowingLimitPercent 4 int32 *?
`,
  'node.v1': `
Overhead
 podFixed 1 {}Quantity ?
RuntimeClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 handler 2 string !
 overhead 3 .Overhead *?
 scheduling 4 .Scheduling *?
Scheduling
 nodeSelector 1 {}string ? map=atomic
 tolerations 2 []core.v1.Toleration ? list=atomic
`,
  'rbac.v1': `
AggregationRule
 clusterRoleSelectors 1 []meta.v1.LabelSelector ? list=atomic
ClusterRole kind list
 metadata 1 meta.v1.ObjectMeta ?
 rules 2 [].PolicyRule list=atomic
 aggregationRule 3 .AggregationRule *?
ClusterRoleBinding kind list
 metadata 1 meta.v1.ObjectMeta ?
 subjects 2 [].Subject ? list=atomic
 roleRef 3 .RoleRef !
PolicyRule
 verbs 1 []string ! list=atomic
 apiGroups 2 []string ? list=atomic
 resources 3 []string ? list=atomic
 resourceNames 4 []string ? list=atomic
 nonResourceURLs 5 []string ? list=atomic
Role kind list
 metadata 1 meta.v1.ObjectMeta ?
 rules 2 [].PolicyRule list=atomic
RoleBinding kind list
 metadata 1 meta.v1.ObjectMeta ?
 subjects 2 [].Subject ? list=atomic
 roleRef 3 .RoleRef !
RoleRef atomic
 apiGroup 1 string !
 kind 2 string !
 name 3 string !
Subject atomic
 kind 1 string !
 apiGroup 2 string ?
 name 3 string !
 namespace 4 string ?
`,
  'resource.v1alpha3': `
as resource.v1beta1 AllocatedDeviceStatus AllocationResult CELDeviceSelector Device DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceClaim DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConfiguration DeviceConstraint DeviceRequest DeviceRequestAllocationResult DeviceSelector NetworkDeviceData OpaqueDeviceConfiguration ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice ResourceSliceSpec
BasicDevice
 attributes 1 {}.DeviceAttribute ?
 capacity 2 {}Quantity ?
`,
  'resource.v1beta1': `
AllocatedDeviceStatus
 driver 1 string !
 pool 2 string !
 device 3 string !
 conditions 4 []meta.v1.Condition list=map:type
 data 5 RawExtension ?
 networkData 6 .NetworkDeviceData *?
AllocationResult
 devices 1 .DeviceAllocationResult ?
 nodeSelector 3 core.v1.NodeSelector *?
BasicDevice
 attributes 1 {}.DeviceAttribute ?
 capacity 2 {}.DeviceCapacity ?
CELDeviceSelector
 expression 1 string !
Device
 name 1 string !
 basic 2 .BasicDevice *? one=deviceType
DeviceAllocationConfiguration
 source 1 string !
 requests 2 []string ? list=atomic
 + 3 .DeviceConfiguration pb=deviceConfiguration
DeviceAllocationResult
 results 1 [].DeviceRequestAllocationResult ? list=atomic
 config 2 [].DeviceAllocationConfiguration ? list=atomic
DeviceAttribute
 int 2 int64 *? one=ValueType
 bool 3 bool *? one=ValueType
 string 4 string *? one=ValueType
 version 5 string *? one=ValueType
DeviceCapacity
 value 1 Quantity !
DeviceClaim
 requests 1 [].DeviceRequest list=atomic
 constraints 2 [].DeviceConstraint ? list=atomic
 config 3 [].DeviceClaimConfiguration ? list=atomic
DeviceClaimConfiguration
 requests 1 []string ? list=atomic
 + 2 .DeviceConfiguration pb=deviceConfiguration
DeviceClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .DeviceClassSpec !
DeviceClassConfiguration
 + 1 .DeviceConfiguration pb=deviceConfiguration
DeviceClassSpec
 selectors 1 [].DeviceSelector ? list=atomic
 config 2 [].DeviceClassConfiguration ? list=atomic
DeviceConfiguration
 opaque 1 .OpaqueDeviceConfiguration *? one=ConfigurationType
DeviceConstraint
 requests 1 []string ? list=atomic
 matchAttribute 2 string *? one=ConstraintType
DeviceRequest
 name 1 string !
 deviceClassName 2 string !
 selectors 3 [].DeviceSelector ? list=atomic
 allocationMode 4 string ?
 count 5 int64 ? one=AllocationMode
 adminAccess 6 bool *? gate=DRAAdminAccess
DeviceRequestAllocationResult
 request 1 string !
 driver 2 string !
 pool 3 string !
 device 4 string !
 adminAccess 5 bool * gate=DRAAdminAccess
DeviceSelector
 cel 1 .CELDeviceSelector *? one=SelectorType
NetworkDeviceData
 interfaceName 1 string ?
 ips 2 []string ? list=atomic
 hardwareAddress 3 string ?
OpaqueDeviceConfiguration
 driver 1 string !
 parameters 2 RawExtension !
ResourceClaim kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ResourceClaimSpec !
 status 3 .ResourceClaimStatus ?
ResourceClaimConsumerReference
 apiGroup 1 string ?
 resource 3 string !
 name 4 string !
 uid 5 string !
ResourceClaimSpec
 devices 1 .DeviceClaim
ResourceClaimStatus
 allocation 1 .AllocationResult *?
 reservedFor 2 [].ResourceClaimConsumerReference ? list=map:uid patch=merge by=uid
 devices 4 [].AllocatedDeviceStatus ? list=map:driver,device,pool gate=DRAResourceClaimDeviceStatus
ResourceClaimTemplate kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ResourceClaimTemplateSpec !
ResourceClaimTemplateSpec
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ResourceClaimSpec !
ResourcePool
 name 1 string !
 generation 2 int64 !
 resourceSliceCount 3 int64 !
ResourceSlice kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ResourceSliceSpec !
ResourceSliceSpec
 driver 1 string !
 pool 2 .ResourcePool !
 nodeName 3 string ? one=NodeSelection
 nodeSelector 4 core.v1.NodeSelector *? one=NodeSelection
 allNodes 5 bool ? one=NodeSelection
 devices 6 [].Device list=atomic
`,
  'scheduling.v1': `
PriorityClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 value 2 int32 !
 globalDefault 3 bool ?
 description 4 string ?
 preemptionPolicy 5 string *? enum=core.v1.PreemptionPolicy
`,
  'storage.v1': `
CSIDriver kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .CSIDriverSpec !
CSIDriverSpec
 attachRequired 1 bool *?
 podInfoOnMount 2 bool *?
 volumeLifecycleModes 3 []string ? list=set
 storageCapacity 4 bool *? gate=CSIStorageCapacity
 fsGroupPolicy 5 string *?
 tokenRequests 6 [].TokenRequest ? list=atomic
 requiresRepublish 7 bool *?
 seLinuxMount 8 bool *? gate=SELinuxMountReadWriteOncePod
CSINode kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .CSINodeSpec !
CSINodeDriver
 name 1 string !
 nodeID 2 string !
 topologyKeys 3 []string list=atomic
 allocatable 4 .VolumeNodeResources *?
CSINodeSpec
 drivers 1 [].CSINodeDriver ! list=map:name patch=merge by=name
CSIStorageCapacity kind list
 metadata 1 meta.v1.ObjectMeta ?
 nodeTopology 2 meta.v1.LabelSelector *?
 storageClassName 3 string !
 capacity 4 Quantity *?
 maximumVolumeSize 5 Quantity *?
StorageClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 provisioner 2 string !
 parameters 3 {}string ?
 reclaimPolicy 4 string *? enum=core.v1.PersistentVolumeReclaimPolicy
 mountOptions 5 []string ? list=atomic
 allowVolumeExpansion 6 bool *?
 volumeBindingMode 7 string *? enum=.VolumeBindingMode
 allowedTopologies 8 []core.v1.TopologySelectorTerm ? list=atomic
TokenRequest
 audience 1 string !
 expirationSeconds 2 int64 *?
VolumeAttachment kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .VolumeAttachmentSpec !
 status 3 .VolumeAttachmentStatus ?
VolumeAttachmentSource
 persistentVolumeName 1 string *?
 inlineVolumeSpec 2 core.v1.PersistentVolumeSpec *?
VolumeAttachmentSpec
 attacher 1 string !
 source 2 .VolumeAttachmentSource !
 nodeName 3 string !
VolumeAttachmentStatus
 attached 1 bool !
 attachmentMetadata 2 {}string ?
 attachError 3 .VolumeError *?
 detachError 4 .VolumeError *?
VolumeError
 time 1 Time ?
 message 2 string ?
VolumeNodeResources
 count 1 int32 *?
`,
  'storage.v1alpha1': `
as storage.v1beta1 VolumeAttributesClass
`,
  'storage.v1beta1': `
VolumeAttributesClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 driverName 2 string !
 parameters 3 {}string ?
`,
  'storagemigration.v1alpha1': `
GroupVersionResource
 group 1 string ?
 version 2 string ?
 resource 3 string ?
MigrationCondition
 type 1 string !
 status 2 string !
 lastUpdateTime 3 Time ?
 reason 4 string ?
 message 5 string ?
StorageVersionMigration kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .StorageVersionMigrationSpec ?
 status 3 .StorageVersionMigrationStatus ?
StorageVersionMigrationList kind
 metadata 1 meta.v1.ListMeta ?
 items 2 [].StorageVersionMigration ! list=map:type patch=merge by=type
StorageVersionMigrationSpec
 resource 1 .GroupVersionResource !
 continueToken 2 string ?
StorageVersionMigrationStatus
 conditions 1 [].MigrationCondition ? list=map:type patch=merge by=type
 resourceVersion 2 string ?
`,
  version: `
Info noproto
 major 0 string !
 minor 0 string !
 gitVersion 0 string !
 gitCommit 0 string !
 gitTreeState 0 string !
 buildDate 0 string !
 goVersion 0 string !
 compiler 0 string !
 platform 0 string !
`,
};
