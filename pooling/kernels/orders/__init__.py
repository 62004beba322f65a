"""Orders of judging: which triples people get next. One file an order; ORDERS is the registry."""

from pooling.kernels.orders.bandit import BANDIT_MM, BANDIT_THOMPSON
from pooling.kernels.orders.base import Order
from pooling.kernels.orders.depth import DEPTH
from pooling.kernels.orders.hedge import HEDGE
from pooling.kernels.orders.move_to_front import MOVE_TO_FRONT
from pooling.kernels.orders.mtc import MTC
from pooling.kernels.orders.random import RANDOM
from pooling.kernels.orders.stratified import STRATIFIED

ORDERS: dict[str, Order] = {
    order.name: order
    for order in (DEPTH, RANDOM, MOVE_TO_FRONT, HEDGE, BANDIT_MM, BANDIT_THOMPSON, STRATIFIED, MTC)
}
