/** A Deployment that uses defaults wherever possible. */
export const deployment = (name: string, replicas = 1, image = 'nginx:1.25'): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
    },
  },
});

/** A ConfigMap. */
export const configMap = (name: string, data: object = { k: 'v' }, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

/** Several kinds in one YAML stream. */
export const several = `
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: several}
spec:
  selector: {app: several}
  ports:
  - {port: 80, targetPort: 8080}
---
apiVersion: v1
kind: Secret
metadata:
  name: token
  labels: {app: several}
stringData:
  password: s3cr3t
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
  labels: {app: several}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: job
            image: busybox
            command: ["true"]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: front
  labels: {app: several}
spec:
  rules:
  - host: example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: web
            port: {number: 80}
`;
